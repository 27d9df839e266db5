#include "commands/inspect_command.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "adapters/sqlite/keys.hpp"
#include "adapters/sqlite/traces.hpp"
#include "base/try.hpp"
#include "index/originals.hpp"
#include "reports/inspect_report.hpp"
#include "terminal/globals.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr std::chrono::milliseconds between_looks{250};
constexpr std::size_t most_at_once = 500;  // of those that came since the last look

struct InspectCommand {
  std::string id;
  std::string session;
  std::string store;
  std::optional<std::size_t> limit;
  bool last = false;
  bool follow = false;
  bool json = false;
  bool original = false;
  std::string key;

  std::string owner{};  // the key's; empty: all
  KeyNames names{};     // empty: there are no keys
};

std::string lines_of(std::span<const Trace> traces, const InspectCommand& command, bool header) {
  if (!command.json) return trace_table(traces, command.names, terminal_of_stdout(), header);
  std::string out;
  for (const Trace& trace : traces) out += trace_json(trace) + "\n";
  return out;
}

Result<void> show_one(const Trace& trace, const InspectCommand& command) {
  return print_out(command.json ? trace_json(trace) + "\n"
                                : trace_report(trace, command.names, terminal_of_stdout()));
}

tl::unexpected<Error> nothing_kept(const InspectCommand& command) {
  if (!command.key.empty() && command.session.empty())
    return fail(Errc::not_found, "no trace is of the key '{}'; `plimsoll inspect` lists the latest of all",
                command.key);
  if (!command.session.empty())
    return fail(Errc::not_found,
                "no trace is of the session '{}'; `plimsoll inspect` lists the latest of all",
                command.session);
  return fail(Errc::not_found,
              "no traces are kept yet: start `plimsoll serve`, point a client at it, and look again");
}

Result<void> show_last(TraceStore& store, const InspectCommand& command) {
  TRY(const auto traces,
      store.traces(command.owner, {.session = command.session, .limit = 1, .as_kept = true}));
  if (traces.empty()) return nothing_kept(command);
  return show_one(traces.front(), command);
}

Result<void> show_latest(TraceStore& store, const InspectCommand& command) {
  constexpr std::size_t a_screenful = 20;
  TRY(auto traces, store.traces(command.owner,
                                {.session = command.session, .limit = command.limit.value_or(a_screenful)}));
  if (traces.empty()) return nothing_kept(command);
  std::reverse(traces.begin(), traces.end());  // the latest last, next to where one types
  return print_out(lines_of(traces, command, /*header=*/true));
}

Result<void> follow(TraceStore& store, const InspectCommand& command) {
  const Interrupt interrupt;
  // Where to go on from, whatever its session; then the few before it that were asked for.
  TRY(const auto newest, store.traces(command.owner, {.limit = 1, .as_kept = true}));
  std::string after = newest.empty() ? "" : newest.front().id;
  bool header = true;
  const auto show = [&](const std::vector<Trace>& traces) -> Result<void> {
    if (traces.empty()) return {};
    TRY_VOID(print_out(lines_of(traces, command, header)));
    header = false;
    return {};
  };
  if (command.limit.value_or(0) > 0) {
    TRY(auto before,
        store.traces(command.owner, {.session = command.session, .limit = *command.limit, .as_kept = true}));
    std::reverse(before.begin(), before.end());
    TRY_VOID(show(before));
  }
  if (terminal_of_stdout().columns > 0 && !command.json)
    fmt::print(stderr, "Waiting for traces; Ctrl-C ends it.\n");
  while (!interrupt.wanted()) {
    TRY(const auto traces, store.traces(command.owner, {.session = command.session,
                                                        .after = after,
                                                        .limit = most_at_once,
                                                        .oldest_first = true,
                                                        .as_kept = true}));
    TRY_VOID(show(traces));
    if (!traces.empty()) after = traces.back().id;
    if (traces.size() < most_at_once) std::this_thread::sleep_for(between_looks);
  }
  return {};
}

// The names of keys, and whose traces are wanted.
Result<void> look_up_keys(const std::filesystem::path& file, InspectCommand& command) {
  TRY(const auto store, sqlite::open_keys(file, {.create = false}));
  TRY(const auto keys, store->keys());
  for (const ApiKey& key : keys) {
    command.names[key.id] = key.name;
    if (key.name == command.key) command.owner = key.id;
  }
  if (command.key.empty() || !command.owner.empty()) return {};
  return fail(Errc::not_found, "no key is called '{}'; `plimsoll keys list` has them all", command.key);
}

Result<void> run(const Globals& globals, InspectCommand& command) {
  TRY(const base::Settings settings, load_settings(globals));
  const auto file = store_of(settings, command.store);
  TRY(const auto store, sqlite::open_traces(file, {.create = false}));
  TRY_VOID(look_up_keys(file, command));
  if (command.original) {
    TRY(const std::string text, session_originals(file, command.owner.empty() ? "local" : command.owner,
                                                  command.session, command.json));
    return print_out(text);
  }
  if (command.follow) return follow(*store, command);
  if (command.last) return show_last(*store, command);
  if (command.id.empty()) return show_latest(*store, command);
  TRY(const Trace trace, store->trace(command.owner, command.id));
  return show_one(trace, command);
}

constexpr const char* about =
    "Show what became of requests: the plan, what the upstream says it has read, and where they differ.\n"
    "`plimsoll serve` keeps a trace of every request.";

constexpr const char* examples =
    "Examples:\n"
    "  plimsoll inspect                      the latest traces, a line each\n"
    "  plimsoll inspect --last               the latest one drawn: plan, usage, drift, time, passages\n"
    "  plimsoll inspect 4k2m9x1c             one of them, by its id or as much of it as is clear; answers\n"
    "                                        carry it in the header X-Plimsoll-Trace\n"
    "  plimsoll inspect --session support-7  those of one session\n"
    "  plimsoll inspect --session support-7 --original\n"
    "                                        what summaries of its history replaced, word for word\n"
    "  plimsoll inspect --key ann            those of one key\n"
    "  plimsoll inspect --follow             every trace as it comes, until Ctrl-C\n"
    "  plimsoll inspect --follow --json | jq 'select(.upstream_cut_tokens > 0)'\n"
    "\n"
    "DRIFT is what the upstream read less what was planned; CUT says that it left out part of the prompt.\n"
    "docs/inspect.md has the fields of the JSON.\n";

}  // namespace

void add_inspect_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* sub = app.add_subcommand("inspect", about);
  sub->footer(examples);
  CLI::Option* id = sub->add_option("ID", command->id, "One trace: its id, or its beginning or end");
  CLI::Option* last = sub->add_flag("--last", command->last, "The latest trace")->excludes(id);
  CLI::Option* session = sub->add_option("--session", command->session, "Only those of this session")
                             ->type_name("S")
                             ->excludes(id);
  sub->add_flag("--original", command->original,
                "The turns that summaries of the session's history replaced, with the summaries")
      ->needs(session);
  sub->add_option("--key", command->key, "Only those of this key")->type_name("NAME");
  sub->add_flag("--follow", command->follow, "Each trace as it comes, until Ctrl-C")
      ->excludes(id)
      ->excludes(last);
  sub->add_option("--limit", command->limit,
                  "How many to list (default: 20; with --follow, how many to begin with: 0)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}));
  sub->add_flag("--json", command->json, "As JSON: one object for one trace, one a line for more");
  sub->add_option("--store", command->store, "File that holds them (default: the setting store_file)")
      ->type_name("PATH");
  sub->callback([command, &globals, &exit_code] {
    if (const auto done = run(globals, *command); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
