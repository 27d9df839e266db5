#include "commands/index_command.hpp"

#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "index/index_add.hpp"
#include "index/index_copy.hpp"
#include "index/index_filter.hpp"
#include "index/stores.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct IndexOptions {
  std::string name;
  std::vector<std::string> documents;
  std::vector<std::string> filters;
  std::size_t limit = 1'000;
  bool json = false;
  bool yes = false;
};

std::string when(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

std::vector<std::string> embedder_names(const IndexInfo& info) {
  std::vector<std::string> names;
  for (const EmbedderInfo& embedder : info.settings.embedders) names.push_back(embedder.name);
  return names;
}

std::string embedders_cell(const IndexInfo& info) {
  return info.settings.embedders.empty() ? "none: keyword search only"
                                         : fmt::format("{}", fmt::join(embedder_names(info), ", "));
}

Json info_json(const IndexInfo& info) {
  return {{"name", info.name},
          {"documents", info.documents},
          {"chunks", info.chunks},
          {"tokens", info.tokens},
          {"bytes", info.text_bytes},
          {"tokenizer", info.settings.tokenizer},
          {"chunk_tokens", info.settings.chunk_tokens},
          {"embedders", embedder_names(info)},
          {"revision", info.revision},
          {"created_ms", info.created_ms},
          {"updated_ms", info.updated_ms}};
}

Result<void> list(const config::Settings& settings, const IndexOptions& options) {
  std::vector<IndexInfo> indexes;
  if (has_store(settings)) {
    TRY(auto documents, Documents::open(settings, /*create=*/false));
    TRY(indexes, documents->store().indexes(local_owner));
  } else if (settings.origin_of("store_file") != "default") {  // a file named by the user must exist
    return fail(Errc::not_found, "no such file: '{}'; `plimsoll index add` creates it",
                settings.store_file.string());
  }
  if (options.json) {
    Json out = Json::array();
    for (const IndexInfo& info : indexes) out.push_back(info_json(info));
    return print_out(base::readable_json(out));
  }
  if (indexes.empty()) return print_out("no index yet: `plimsoll index add NAME PATH...` creates one\n");
  Table table{{"INDEX", "DOCUMENTS", "CHUNKS", "TOKENS", "TEXT", "EMBEDDERS", "UPDATED"},
              {false, true, true, true, true, false, false},
              {},
              false};
  for (const IndexInfo& info : indexes) {
    table.rows.push_back({printable(info.name), base::with_thousands(info.documents),
                          base::with_thousands(info.chunks), base::with_thousands(info.tokens),
                          base::human_bytes(static_cast<std::uint64_t>(info.text_bytes)),
                          embedders_cell(info), when(info.updated_ms)});
  }
  return print_out(draw(table, terminal_of_stdout()));
}

Result<void> show(const config::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  if (options.json) return print_out(base::readable_json(info_json(info)));
  return print_out(fmt::format(
      "{}\n"
      "  documents  {}\n"
      "  chunks     {}, about {} tokens each\n"
      "  tokens     {} ({})\n"
      "  text       {}\n"
      "  embedders  {}\n"
      "  created    {}\n"
      "  updated    {}, revision {}\n"
      "  store      {}\n",
      printable(info.name), base::with_thousands(info.documents), base::with_thousands(info.chunks),
      info.settings.chunk_tokens, base::with_thousands(info.tokens), info.settings.tokenizer,
      base::human_bytes(static_cast<std::uint64_t>(info.text_bytes)), embedders_cell(info),
      when(info.created_ms), when(info.updated_ms), info.revision, printable(shown_store(settings))));
}

Result<void> documents_of(const config::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  TRY(const Filter filter, read_filters(options.filters));
  TRY(const auto heads, documents->store().documents(info.id, filter, 0, options.limit));
  if (options.json) {
    Json out = Json::array();
    for (const DocumentHead& head : heads) {
      Json metadata = Json::object();
      for (const auto& [key, value] : head.metadata) metadata[key] = base::parse_json(value);
      const std::string file = head.file.path.value_or("");
      out.push_back({{"document", head.key},
                     {"file", file.empty() ? Json() : Json(file)},
                     {"type", head.media_type},
                     {"bytes", head.source_bytes},
                     {"chunks", head.chunks},
                     {"tokens", head.tokens},
                     {"sha256", head.source_hash},
                     {"metadata", std::move(metadata)},
                     {"added_ms", head.added_ms}});
    }
    return print_out(base::readable_json(out));
  }
  Table table{{"DOCUMENT", "TYPE", "SIZE", "CHUNKS", "TOKENS", "ADDED"},
              {false, false, true, true, true, false},
              {},
              false};
  for (const DocumentHead& head : heads) {
    table.rows.push_back({printable(head.key), printable(head.media_type),
                          base::human_bytes(static_cast<std::uint64_t>(head.source_bytes)),
                          base::with_thousands(head.chunks), base::with_thousands(head.tokens),
                          when(head.added_ms)});
  }
  std::string out = draw(table, terminal_of_stdout());
  if (heads.size() == options.limit && std::cmp_less(heads.size(), info.documents)) {
    out += fmt::format("the first {} of {}; use --limit to show more\n", heads.size(), info.documents);
  }
  return print_out(out);
}

// Asks before removing a whole index. bad_input: the answer was no, or there is no terminal.
Result<void> confirm_removal(const IndexInfo& info) {
  const std::string what = fmt::format("index '{}' with {}", printable(info.name),
                                       several(static_cast<std::uint64_t>(info.documents), "document"));
  if (::isatty(STDIN_FILENO) == 0)
    return fail(Errc::bad_input,
                "this would remove {}, and there is no terminal to confirm it; use --yes to remove it", what);
  fmt::print(stderr, "Remove {}? [y/N] ", what);
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  answer = base::to_lower_ascii(base::trim(answer));
  if (answer == "y" || answer == "yes") return {};
  return fail(Errc::bad_input, "nothing was removed");
}

Result<void> remove(const config::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  if (options.documents.empty()) {
    if (!options.yes) TRY_VOID(confirm_removal(info));
    TRY_VOID(documents->store().remove_index(info.id));
    std::vector<std::string> notes;
    documents->compact(notes);
    if (const auto done = documents->forget(info); !done)
      notes.push_back(fmt::format("its search data was left behind: {}", done.error().what));
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", printable(note, 500));
    return print_out(fmt::format("removed index {} with {}\n", printable(info.name),
                                 several(static_cast<std::uint64_t>(info.documents), "document")));
  }
  TRY(const auto removed, documents->store().remove(info.id, options.documents));
  TRY_VOID(documents->snapshot(info));
  TRY_VOID(print_out(fmt::format("removed {} of {} documents\n", removed.size(), options.documents.size())));
  if (removed.size() == options.documents.size()) return {};
  std::vector<std::string> missing;
  for (const std::string& key : options.documents) {
    if (std::find(removed.begin(), removed.end(), key) == removed.end()) missing.push_back(printable(key));
  }
  return fail(Errc::not_found, "not in index '{}': {}; `plimsoll index documents {}` lists its documents",
              info.name, fmt::join(missing, ", "), info.name);
}

Result<void> verify(const config::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  TRY(const auto faults, documents->verify(info));
  if (options.json)
    TRY_VOID(print_out(
        base::readable_json({{"index", info.name}, {"sound", faults.empty()}, {"faults", faults}})));
  if (faults.empty()) {
    if (options.json) return {};
    return print_out(fmt::format("{} is sound: {} documents, {} chunks\n", printable(info.name),
                                 info.documents, info.chunks));
  }
  if (!options.json) {
    for (const std::string& fault : faults) TRY_VOID(print_out(printable(fault, 1'000) + "\n"));
  }
  return fail(
      Errc::damaged,
      "index '{}' has {} faults; `plimsoll index rebuild {}` repairs search data, `index add` documents",
      info.name, faults.size(), info.name);
}

Result<void> rebuild(const config::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  TRY_VOID(documents->forget(info));
  TRY_VOID(documents->snapshot(info));
  return print_out(fmt::format("rebuilt {} from its {} documents\n", printable(info.name), info.documents));
}

constexpr const char* index_examples =
    "Examples:\n"
    "  plimsoll index add manual docs README.md        create or update an index\n"
    "  plimsoll index add manual docs --prune          and remove documents of deleted files\n"
    "  plimsoll index add code src --meta team=core    with metadata, for --filter\n"
    "  plimsoll index list\n"
    "  plimsoll index documents manual\n"
    "  plimsoll index remove manual docs/old.md        one document; without a document, the whole\n"
    "                                                  index, after confirmation or with --yes\n";

void add_add(CLI::App& index, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<IndexAddOptions>();
  CLI::App* command = index.add_subcommand("add", "Add files and folders to an index, or update them");
  command->footer(
      "Reads Markdown, HTML, PDF, .docx, source code, CSV, JSON, JSON lines and plain text. Folders are "
      "read\n"
      "recursively, except what .gitignore and .plimsollignore exclude. Unchanged files are skipped.\n"
      "Images, archives, minified and generated code and similar files are skipped and counted, unless they\n"
      "are given as PATH or match --include. A file that cannot be read is reported, the others are added, "
      "and\n"
      "the exit status is 1. After Ctrl-C, the same command continues where it stopped.\n\n"
      "Examples:\n"
      "  plimsoll index add manual docs README.md\n"
      "  plimsoll index add manual docs --exclude '*.html' --prune\n");
  command->add_option("NAME", options->name, "The index; it is created if it does not exist")->required();
  command->add_option("PATH", options->paths, "Files and folders")->required();
  command->add_option("--model", options->model, "New index: tokenizer and chunk size for this model")
      ->type_name("M");
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "New index: tokenizer to count with (default: o200k_base)")
      ->type_name("T");
  command
      ->add_option("--chunk-tokens", options->chunk_tokens,
                   "New index: approximate tokens per chunk (default: the setting chunk_tokens)")
      ->type_name("TOKENS")
      ->check(CLI::Range(Tokens{32}, Tokens{4'096}));
  auto* embedder = command
                       ->add_option("--embedder", options->embedders,
                                    "New index: embedder; give it twice for a second one "
                                    "(default: the setting embedders)")
                       ->type_name("E")
                       ->allow_extra_args(false);
  command->add_flag("--no-embedder", options->no_embedder, "New index: keyword search only")
      ->excludes(embedder);
  command->add_option("--meta", options->metadata, "Metadata for every document; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--include", options->include,
                   "Only files that match, as in .gitignore: '*.md', 'guide/'; may be repeated")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command->add_option("--exclude", options->exclude, "Skip files that match; may be repeated")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command->add_flag("--prune", options->prune,
                    "Remove documents below these paths whose files are deleted or now excluded");
  command->add_flag("--verbose", options->verbose, "List the files that were skipped");
  command->add_flag("--quiet", options->quiet, "No progress bar");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &globals, &exit_code] {
    const auto settings = load_settings(globals);
    const auto done =
        settings ? index_add(*settings, *options) : Result<int>(tl::unexpected<Error>(settings.error()));
    exit_code = done ? *done : complain(done.error());
  });
}

void add_copy(CLI::App& index, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<IndexCopyOptions>();
  CLI::App* command = index.add_subcommand("copy", "Copy indexes from one store into another");
  command->footer(
      "FROM and TO are files, or URLs of PostgreSQL servers; `plimsoll store copy` copies everything else "
      "too.\n"
      "Copies documents with their vectors. An index is visible in TO once it is complete and its checksum\n"
      "is that of FROM. After an interruption the same command goes on where it was. FROM can be read and\n"
      "changed meanwhile; what changes is copied again. Search data is rebuilt at first use.\n\n"
      "Examples:\n"
      "  plimsoll index copy ~/.local/share/plimsoll/store.db backup.db\n"
      "  plimsoll index copy backup.db postgres://plimsoll@db.internal/plimsoll manual --replace\n");
  command->add_option("FROM", options->from, "The store to read: a file or a URL")->required();
  command->add_option("TO", options->to, "The store to add to: a file, which is created, or a URL")
      ->required();
  command->add_option("NAME", options->names, "The indexes (default: all)");
  command->add_option("--as", options->as, "Another name in TO, for one index")->type_name("NAME");
  command->add_option("--key", options->key, "The private indexes of this API key, which both stores have")
      ->type_name("NAME");
  command->add_flag("--replace", options->replace, "Replace indexes of these names in TO");
  command->add_flag("--quiet", options->quiet, "No progress bar");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &globals, &exit_code] {
    const auto settings = load_settings(globals);
    const auto done =
        settings ? copy_indexes(*settings, *options) : Result<int>(tl::unexpected<Error>(settings.error()));
    exit_code = done ? *done : complain(done.error());
  });
}

using Action = Result<void> (*)(const config::Settings&, const IndexOptions&);

CLI::App* add_simple(CLI::App& index, const Globals& globals, int& exit_code, const char* name,
                     const char* about, Action action, const std::shared_ptr<IndexOptions>& options,
                     bool needs_name = true) {
  CLI::App* command = index.add_subcommand(name, about);
  if (needs_name) command->add_option("NAME", options->name, "The index")->required();
  command->callback([options, action, &globals, &exit_code] {
    const auto settings = load_settings(globals);
    const auto done =
        settings ? action(*settings, *options) : Result<void>(tl::unexpected<Error>(settings.error()));
    if (!done) exit_code = complain(done.error());
  });
  return command;
}

}  // namespace

void add_index_command(CLI::App& app, const Globals& globals, int& exit_code) {
  CLI::App* index = app.add_subcommand("index", "Manage indexes of documents");
  index->require_subcommand(1);
  index->footer(index_examples);
  add_add(*index, globals, exit_code);
  add_copy(*index, globals, exit_code);
  const auto simple = [&](const char* name, const char* about, Action action, bool needs_name = true) {
    auto options = std::make_shared<IndexOptions>();
    return std::pair(add_simple(*index, globals, exit_code, name, about, action, options, needs_name),
                     options);
  };
  const auto [listing, list_options] = simple("list", "List all indexes", list, /*needs_name=*/false);
  listing->add_flag("--json", list_options->json, "Print JSON");
  const auto [showing, show_options] = simple("show", "Show the contents and settings of an index", show);
  showing->add_flag("--json", show_options->json, "Print JSON");
  const auto [documents, document_options] =
      simple("documents", "List the documents of an index", documents_of);
  documents
      ->add_option("--filter", document_options->filters,
                   "Only documents with this metadata; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  documents->add_option("--limit", document_options->limit, "Most documents to list (default: 1000)")
      ->type_name("N");
  documents->add_flag("--json", document_options->json, "Print JSON");
  const auto [removing, remove_options] = simple("remove", "Remove documents, or the whole index", remove);
  removing->add_option("DOC", remove_options->documents,
                       "Documents as `index documents` names them; none: the whole index");
  removing->add_flag("--yes", remove_options->yes, "Remove a whole index without asking");
  const auto [verifying, verify_options] =
      simple("verify", "Check that an index is complete and consistent", verify);
  verifying->add_flag("--json", verify_options->json, "Print JSON");
  simple("rebuild", "Rebuild the search data of an index from its documents", rebuild);
}

}  // namespace plimsoll
