#include "commands/memory_command.hpp"

#include <algorithm>
#include <ctime>
#include <memory>

#include <fmt/chrono.h>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/memory/memory_json.hpp"
#include "index/stores.hpp"
#include "serve/serve_memory.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using gateway::memory_json;

constexpr std::chrono::seconds memory_patience{60};

struct MemoryOptions {
  std::string text;  // or query, or id
  std::string session;
  std::string owner{local_owner};
  std::string store;
  std::optional<double> importance, trust;
  std::size_t limit = 20;
  bool helpful = false, wrong = false;
  bool json = false;
};

// Open stores that the commands use.
struct Opened {
  config::Settings settings;
  std::unique_ptr<Documents> documents;
  std::unique_ptr<FactStore> store;
  std::unique_ptr<engine::Memories> memories;
};

// Checks that the owner exists: nobody could read the memories of an unknown owner.
Result<void> check_owner(const Globals& globals, const MemoryOptions& options) {
  if (options.owner == local_owner) return {};
  TRY(const config::Settings settings, load_settings(globals));
  TRY(const auto store, open_keys(with_store(settings, options.store), /*create=*/false));
  TRY(const auto keys, store->keys());
  if (std::ranges::any_of(keys, [&](const ApiKey& key) { return key.id == options.owner; })) return {};
  return fail(Errc::not_found, "unknown key id '{}'; `plimsoll keys list --json` lists all ids",
              printable(options.owner, 60));
}

Result<std::unique_ptr<Opened>> open(const Globals& globals, const MemoryOptions& options, bool create) {
  auto opened = std::make_unique<Opened>();
  TRY(opened->settings, load_settings(globals));
  opened->settings = with_store(opened->settings, options.store);
  TRY(opened->store, open_facts(opened->settings, create));
  TRY(opened->documents, Documents::open(opened->settings, create));
  opened->memories = std::make_unique<engine::Memories>(
      *opened->store, memory_embedder(opened->settings, *opened->documents), opened->settings.max_memories);
  return opened;
}

FactScope scope_of(const MemoryOptions& options) {
  FactScope scope{options.owner};
  if (!options.session.empty()) scope.session = options.session;
  return scope;
}

Result<void> print_json(const gateway::Json& json) {
  return print_out(base::readable_json(json));
}

std::string day(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(ms / 1'000)));
}

// The text comes last and gets the rest of the terminal's width.
std::string table_of(const std::vector<Fact>& facts) {
  constexpr std::size_t longest = 100;
  Table table{{"ID", "TRUST", "IMPORTANCE", "SESSION", "SAID", "TEXT"},
              {false, true, true, false, false, false},
              {},
              false};
  for (const Fact& fact : facts)
    table.rows.push_back({fact.id, fmt::format("{:.2f}", fact.trust), fmt::format("{:.2f}", fact.importance),
                          fact.session.empty() ? "-" : printable(fact.session, 24), day(fact.updated_ms),
                          printable(fact.text, longest)});
  return draw(table, terminal_of_stdout());
}

Result<void> add(const Globals& globals, const MemoryOptions& options) {
  TRY_VOID(check_owner(globals, options));
  TRY(const auto opened, open(globals, options, /*create=*/true));
  engine::NewFact fact;
  fact.text = options.text;
  fact.session = options.session;
  fact.importance = options.importance;
  fact.trust = options.trust;
  TRY(const auto added, opened->memories->add(options.owner, fact, Deadline::after(memory_patience)));
  if (options.json) return print_json(memory_json(added));
  return tell_added(added);
}

// Opens the default store, which is created if needed. A file named by the user must exist.
Result<std::unique_ptr<Opened>> open_to_read(const Globals& globals, const MemoryOptions& options) {
  return open(globals, options, /*create=*/options.store.empty());
}

Result<void> list(const Globals& globals, const MemoryOptions& options) {
  TRY(const auto opened, open_to_read(globals, options));
  TRY(const auto facts, opened->memories->list(scope_of(options), options.limit));
  if (options.json) return print_json(memory_json(facts));
  if (facts.empty())
    return print_out("no memories yet; add one with `plimsoll memory add \"Ann likes tea\"`\n");
  return print_out(table_of(facts));
}

Result<void> find(const Globals& globals, const MemoryOptions& options) {
  TRY(const auto opened, open_to_read(globals, options));
  TRY(const auto found, opened->memories->search(scope_of(options), options.text, options.limit,
                                                 Deadline::after(memory_patience)));
  if (options.json) return print_json(memory_json(found));
  for (const std::string& note : found.notes) fmt::print(stderr, "{}\n", note);
  if (found.facts.empty()) return print_out("no memory found\n");
  std::vector<Fact> facts;
  for (const RecalledFact& one : found.facts) facts.push_back(one.fact);
  return print_out(table_of(facts));
}

Result<void> feedback(const Globals& globals, const MemoryOptions& options) {
  if (options.helpful == options.wrong) return fail(Errc::bad_input, "give --helpful or --not-helpful");
  TRY(const auto opened, open(globals, options, /*create=*/false));
  TRY_VOID(opened->memories->feedback(options.owner, options.text, options.helpful));
  TRY(const auto shown, opened->memories->show(options.owner, options.text));
  if (options.json) return print_json(memory_json(shown));
  return print_out(fmt::format("{} has trust {:.2f} after {}\n", shown.fact.id, shown.fact.trust,
                               several(shown.history.size(), "judgement")));
}

Result<void> forget(const Globals& globals, const MemoryOptions& options) {
  if (options.text.empty() == options.session.empty())
    return fail(Errc::bad_input, "give the ID of a memory, or --session NAME");
  TRY(const auto opened, open(globals, options, /*create=*/false));
  TRY(const auto gone, options.session.empty()
                           ? opened->memories->forget(options.owner, options.text)
                           : opened->memories->forget_session(options.owner, options.session));
  if (options.json) return print_json(memory_json(gone));
  if (!gone.purged)
    fmt::print(stderr, "{}\n",
               is_shared(opened->settings)
                   ? "the bytes leave the server's files when it cleans up (VACUUM) and recycles its log"
                   : "another process reads the store: the bytes leave its log at the next deletion");
  return print_out(fmt::format("forgotten: {}, and their text in {}\n",
                               gone.facts == 1 ? "1 memory" : fmt::format("{} memories", gone.facts),
                               several(static_cast<std::uint64_t>(gone.traces), "trace")));
}

constexpr const char* memory_examples =
    "Examples:\n"
    "  plimsoll memory add \"Ann is allergic to nuts\" --importance 0.9\n"
    "  plimsoll memory add \"This ticket is about the pump\" --session ticket-7   for that conversation "
    "alone\n"
    "  plimsoll memory search \"what may Ann eat?\"       keyword and vector search\n"
    "  plimsoll memory feedback mem_... --helpful        trust + 0.05; --not-helpful: - 0.10\n"
    "  plimsoll memory forget mem_...                    permanently, also from traces\n"
    "\n"
    "Memories are added to chats through the gateway if a request has {\"plimsoll\": {\"memory\": true}}, "
    "or\n"
    "always with the setting recall_memories. docs/memory.md explains which, and when.\n";

using MemoryWork = Result<void> (*)(const Globals&, const MemoryOptions&);

}  // namespace

Result<void> tell_added(const engine::AddedFact& added) {
  if (!added.note.empty()) fmt::print(stderr, "{}\n", added.note);
  return print_out(fmt::format("{} {}: {}\n", added.is_new ? "remembered" : "renewed", added.fact.id,
                               printable(added.fact.text)));
}

void add_memory_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<MemoryOptions>();
  CLI::App* memory = app.add_subcommand("memory", "Store, search, rate and delete facts");
  memory->footer(memory_examples);
  memory->require_subcommand(1);
  const auto sub = [&](const char* name, const char* about, MemoryWork work) {
    CLI::App* command = memory->add_subcommand(name, about);
    command->add_option("--store", options->store, "Database file (default: the setting store or store_file)")
        ->type_name("PATH");
    command
        ->add_option("--owner", options->owner,
                     "Owner: the id of a key, from `plimsoll keys list --json` (default: local, for clients "
                     "without a key)")
        ->type_name("ID");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, work, &globals, &exit_code] {
      if (const auto done = work(globals, *options); !done) exit_code = complain(done.error());
    });
    return command;
  };
  const auto in_session = [&](CLI::App* command, const char* about) {
    command->add_option("--session", options->session, about)->type_name("NAME");
  };
  const auto limited = [&](CLI::App* command) {
    command->add_option("--limit", options->limit, "Most memories to show (default: 20)")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  };
  CLI::App* adding = sub("add", "Store a fact; the same text again renews it", add);
  adding->add_option("TEXT", options->text, "The fact, in one sentence")->required();
  in_session(adding, "Only for this conversation (default: for all)");
  adding->add_option("--importance", options->importance, "0 to 1 (default: 0.7)")
      ->check(CLI::Range(0.0, 1.0));
  adding->add_option("--trust", options->trust, "0 to 1 (default: 0.5)")->check(CLI::Range(0.0, 1.0));
  CLI::App* listing = sub("list", "List memories, newest first", list);
  in_session(listing, "Only memories of this conversation");
  limited(listing);
  CLI::App* searching = sub("search", "Search memories, best first", find);
  searching->add_option("QUERY", options->text, "The query")->required();
  in_session(searching, "Only memories of this conversation");
  limited(searching);
  CLI::App* judging = sub("feedback", "Rate a memory as helpful or not", feedback);
  judging->add_option("ID", options->text, "Id of the memory")->required();
  judging->add_flag("--helpful", options->helpful, "It was correct and useful");
  judging->add_flag("--not-helpful", options->wrong, "It was wrong or useless");
  CLI::App* forgetting =
      sub("forget", "Delete a memory, or all memories of a conversation, also from traces", forget);
  forgetting->add_option("ID", options->text, "Id of the memory");
  in_session(forgetting, "Delete all memories of this conversation");
}

}  // namespace plimsoll
