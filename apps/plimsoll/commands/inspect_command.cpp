#include "commands/inspect_command.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/try.hpp"
#include "index/originals.hpp"
#include "index/stores.hpp"
#include "reports/inspect_report.hpp"
#include "terminal/globals.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr std::chrono::milliseconds between_reads{250};
constexpr std::size_t most_at_once = 500;  // new traces per poll

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

  std::string owner{};  // id of the key; empty: all
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
    return fail(Errc::not_found, "no trace for key '{}'; `plimsoll inspect` lists the latest traces",
                command.key);
  if (!command.session.empty())
    return fail(Errc::not_found, "no trace for session '{}'; `plimsoll inspect` lists the latest traces",
                command.session);
  return fail(Errc::not_found, "no traces yet: start `plimsoll serve` and send it a request");
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
  std::reverse(traces.begin(), traces.end());  // the latest last, next to the prompt
  return print_out(lines_of(traces, command, /*header=*/true));
}

Result<void> follow(TraceStore& store, const InspectCommand& command) {
  const Interrupt interrupt;
  // Finds where to continue, in any session; then the traces before it that were asked for.
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
    fmt::print(stderr, "Waiting for traces; press Ctrl-C to stop.\n");
  while (!interrupt.wanted()) {
    TRY(const auto traces, store.traces(command.owner, {.session = command.session,
                                                        .after = after,
                                                        .limit = most_at_once,
                                                        .oldest_first = true,
                                                        .as_kept = true}));
    TRY_VOID(show(traces));
    if (!traces.empty()) after = traces.back().id;
    if (traces.size() < most_at_once) std::this_thread::sleep_for(between_reads);
  }
  return {};
}

// Reads the names of the keys, and finds the owner for --key.
Result<void> look_up_keys(const config::Settings& settings, InspectCommand& command) {
  TRY(const auto store, open_keys(settings, /*create=*/false));
  TRY(const auto keys, store->keys());
  for (const ApiKey& key : keys) {
    command.names[key.id] = key.name;
    if (key.name == command.key) command.owner = key.id;
  }
  if (command.key.empty() || !command.owner.empty()) return {};
  return fail(Errc::not_found, "unknown key '{}'; `plimsoll keys list` lists all keys", command.key);
}

Result<void> run(const Globals& globals, InspectCommand& command) {
  TRY(const config::Settings loaded, load_settings(globals));
  const config::Settings settings = with_store(loaded, command.store);
  TRY(const auto store, open_traces(settings, /*create=*/false));
  TRY_VOID(look_up_keys(settings, command));
  if (command.original) {
    TRY(const std::string text, session_originals(settings, command.owner.empty() ? "local" : command.owner,
                                                  command.session, command.json));
    return print_out(text);
  }
  if (command.follow) return follow(*store, command);
  if (command.last) return show_last(*store, command);
  if (command.id.empty()) return show_latest(*store, command);
  TRY(const Trace trace, store->trace(command.owner, command.id));
  return show_one(trace, command);
}

constexpr const char* about_inspect =
    "Show traces of requests: the plan, the usage that the upstream reports, and the difference.\n"
    "`plimsoll serve` stores a trace of every request.";

constexpr const char* inspect_examples =
    "Examples:\n"
    "  plimsoll inspect                      list the latest traces\n"
    "  plimsoll inspect --last               the latest in full: plan, usage, drift, time, passages\n"
    "  plimsoll inspect 4k2m9x1c             one trace, by its id or a unique part of it; the id is in\n"
    "                                        the answer's header X-Plimsoll-Trace\n"
    "  plimsoll inspect --session support-7  traces of one session\n"
    "  plimsoll inspect --session support-7 --original\n"
    "                                        the original turns that summaries replaced\n"
    "  plimsoll inspect --key ann            traces of one key\n"
    "  plimsoll inspect --follow             new traces as they arrive, until Ctrl-C\n"
    "  plimsoll inspect --follow --json | jq 'select(.upstream_cut_tokens > 0)'\n"
    "\n"
    "DRIFT is the tokens read by the upstream minus the planned tokens. CUT: the upstream truncated the "
    "prompt.\n"
    "docs/inspect.md describes the JSON fields.\n";

}  // namespace

void add_inspect_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* sub = app.add_subcommand("inspect", about_inspect);
  sub->footer(inspect_examples);
  CLI::Option* id = sub->add_option("ID", command->id, "One trace: its id, or the start or end of it");
  CLI::Option* last = sub->add_flag("--last", command->last, "The latest trace")->excludes(id);
  CLI::Option* session = sub->add_option("--session", command->session, "Only traces of this session")
                             ->type_name("S")
                             ->excludes(id);
  sub->add_flag("--original", command->original,
                "Show the turns that summaries of the session replaced, with the summaries")
      ->needs(session);
  sub->add_option("--key", command->key, "Only traces of this key")->type_name("NAME");
  sub->add_flag("--follow", command->follow, "Show new traces as they arrive, until Ctrl-C")
      ->excludes(id)
      ->excludes(last);
  sub->add_option("--limit", command->limit,
                  "Traces to list (default: 20; with --follow: 0, earlier traces to start with)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}));
  sub->add_flag("--json", command->json, "Print JSON: one object for one trace, one per line for several");
  sub->add_option("--store", command->store, "Database file (default: the setting store or store_file)")
      ->type_name("PATH");
  sub->callback([command, &globals, &exit_code] {
    if (const auto done = run(globals, *command); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
