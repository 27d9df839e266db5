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

#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "index/index_add.hpp"
#include "index/index_filter.hpp"
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

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string when(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

std::vector<std::string> embedder_names(const IndexInfo& info) {
  std::vector<std::string> names;
  for (const EmbedderInfo& embedder : info.settings.embedders) names.push_back(embedder.name);
  return names;
}

std::string embedders_cell(const IndexInfo& info) {
  return info.settings.embedders.empty() ? "none: words alone"
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

Result<void> list(const base::Settings& settings, const IndexOptions& options) {
  std::error_code error;
  std::vector<IndexInfo> indexes;
  if (std::filesystem::exists(settings.store_file, error)) {
    TRY(auto documents, Documents::open(settings, /*create=*/false));
    TRY(indexes, documents->store().indexes(local_owner));
  } else if (settings.origin_of("store_file") != "default") {  // a file that was named must be there
    return fail(Errc::not_found, "there is no file '{}'; `plimsoll index add` makes it",
                settings.store_file.string());
  }
  if (options.json) {
    Json out = Json::array();
    for (const IndexInfo& info : indexes) out.push_back(info_json(info));
    return print_out(dumped(out));
  }
  if (indexes.empty()) return print_out("no index yet: `plimsoll index add NAME PATH...` makes one\n");
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

Result<void> show(const base::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  if (options.json) return print_out(dumped(info_json(info)));
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
      when(info.created_ms), when(info.updated_ms), info.revision, printable(settings.store_file.string())));
}

Result<void> documents_of(const base::Settings& settings, const IndexOptions& options) {
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
    return print_out(dumped(out));
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
    out += fmt::format("the first {} of {}; --limit shows more\n", heads.size(), info.documents);
  }
  return print_out(out);
}

// Asks before a whole index goes. bad_input: the answer was no, or nobody can be asked.
Result<void> confirm_removal(const IndexInfo& info) {
  const std::string what = fmt::format("index '{}' with {}", printable(info.name),
                                       several(static_cast<std::uint64_t>(info.documents), "document"));
  if (::isatty(STDIN_FILENO) == 0)
    return fail(Errc::bad_input, "this would remove {}, and there is no terminal to ask on; --yes removes it",
                what);
  fmt::print(stderr, "Remove {}? [y/N] ", what);
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  answer = base::to_lower_ascii(base::trim(answer));
  if (answer == "y" || answer == "yes") return {};
  return fail(Errc::bad_input, "nothing was removed");
}

Result<void> remove(const base::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  if (options.documents.empty()) {
    if (!options.yes) TRY_VOID(confirm_removal(info));
    TRY_VOID(documents->store().remove_index(info.id));
    std::vector<std::string> notes;
    documents->compact(notes);
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", printable(note, 500));
    std::error_code ignored;
    std::filesystem::remove_all(documents->folder_of(info), ignored);
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
  return fail(Errc::not_found, "not in index '{}': {}; `plimsoll index documents {}` lists what is",
              info.name, fmt::join(missing, ", "), info.name);
}

Result<void> verify(const base::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  TRY(const auto faults, documents->verify(info));
  if (options.json)
    TRY_VOID(print_out(dumped({{"index", info.name}, {"sound", faults.empty()}, {"faults", faults}})));
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
      "index '{}' has {} faults; `plimsoll index rebuild {}` mends what searches, `index add` documents",
      info.name, faults.size(), info.name);
}

Result<void> rebuild(const base::Settings& settings, const IndexOptions& options) {
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const IndexInfo info, documents->store().find_index(local_owner, options.name));
  std::error_code error;
  std::filesystem::remove_all(documents->folder_of(info), error);
  if (error) return fail(Errc::io_failed, "{}: {}", documents->folder_of(info).string(), error.message());
  TRY_VOID(documents->snapshot(info));
  return print_out(fmt::format("rebuilt {} from its {} documents\n", printable(info.name), info.documents));
}

constexpr const char* examples =
    "Examples:\n"
    "  plimsoll index add manual docs README.md        make an index, or bring it up to date\n"
    "  plimsoll index add manual docs --prune          and drop documents whose files are gone\n"
    "  plimsoll index add code src --meta team=core    with metadata, for --filter\n"
    "  plimsoll index list\n"
    "  plimsoll index documents manual\n"
    "  plimsoll index remove manual docs/old.md        one document; without a name, the whole index,\n"
    "                                                  which asks first, or takes --yes\n";

void add_add(CLI::App& index, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<IndexAddOptions>();
  CLI::App* command =
      index.add_subcommand("add", "Put files and folders into an index, or bring it up to date");
  command->footer(
      "Markdown, HTML, PDF, .docx, source code, CSV, JSON, JSON lines and plain text are read; folders are\n"
      "walked, and what .gitignore and .plimsollignore name is left out. What is unchanged is not read "
      "again.\n"
      "Images, archives, minified and generated code and other files of no use to a reader are skipped and\n"
      "counted, unless they are named or --include names them. A file that cannot be read is reported, the\n"
      "rest goes in, and the exit status is 1. After Ctrl-C the same command continues where it was.\n\n"
      "Examples:\n"
      "  plimsoll index add manual docs README.md\n"
      "  plimsoll index add manual docs --exclude '*.html' --prune\n");
  command->add_option("NAME", options->name, "The index; it is made if there is none")->required();
  command->add_option("PATH", options->paths, "Files and folders")->required();
  command->add_option("--model", options->model, "New index: tokenizer and chunk size that suit this model")
      ->type_name("M");
  command
      ->add_option("--tokenizer", options->tokenizer, "New index: count with this one (default: o200k_base)")
      ->type_name("T");
  command
      ->add_option("--chunk-tokens", options->chunk_tokens,
                   "New index: tokens of a chunk, about (default: the setting chunk_tokens)")
      ->type_name("TOKENS")
      ->check(CLI::Range(Tokens{32}, Tokens{4'096}));
  auto* embedder = command
                       ->add_option("--embedder", options->embedders,
                                    "New index: embed with this one, and with a second if given twice "
                                    "(default: the setting embedders)")
                       ->type_name("E")
                       ->allow_extra_args(false);
  command->add_flag("--no-embedder", options->no_embedder, "New index: search by words alone")
      ->excludes(embedder);
  command->add_option("--meta", options->metadata, "Metadata for every document, as often as needed")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--include", options->include,
                   "Only files that match, as in .gitignore: '*.md', 'guide/'; may be repeated")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command->add_option("--exclude", options->exclude, "No files that match; may be repeated")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command->add_flag("--prune", options->prune,
                    "Remove documents of these paths whose files are gone or left out now");
  command->add_flag("--verbose", options->verbose, "List the files that were skipped");
  command->add_flag("--quiet", options->quiet, "No bar");
  command->add_flag("--json", options->json, "The outcome as JSON");
  command->callback([options, &globals, &exit_code] {
    const auto settings = load_settings(globals);
    const auto done =
        settings ? index_add(*settings, *options) : Result<int>(tl::unexpected<Error>(settings.error()));
    exit_code = done ? *done : complain(done.error());
  });
}

using Action = Result<void> (*)(const base::Settings&, const IndexOptions&);

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
  CLI::App* index = app.add_subcommand("index", "Put documents into indexes, and look after them");
  index->require_subcommand(1);
  index->footer(examples);
  add_add(*index, globals, exit_code);
  const auto simple = [&](const char* name, const char* about, Action action, bool needs_name = true) {
    auto options = std::make_shared<IndexOptions>();
    return std::pair(add_simple(*index, globals, exit_code, name, about, action, options, needs_name),
                     options);
  };
  const auto [listing, list_options] = simple("list", "All indexes", list, /*needs_name=*/false);
  listing->add_flag("--json", list_options->json, "As JSON");
  const auto [showing, show_options] = simple("show", "One index: what it holds and how it was made", show);
  showing->add_flag("--json", show_options->json, "As JSON");
  const auto [documents, document_options] = simple("documents", "The documents of an index", documents_of);
  documents
      ->add_option("--filter", document_options->filters,
                   "Only those whose metadata has this; may be given again")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  documents->add_option("--limit", document_options->limit, "Most documents (default: 1000)")->type_name("N");
  documents->add_flag("--json", document_options->json, "As JSON");
  const auto [removing, remove_options] = simple("remove", "Remove documents, or the whole index", remove);
  removing->add_option("DOC", remove_options->documents,
                       "Documents as `index documents` names them; none: the whole index");
  removing->add_flag("--yes", remove_options->yes, "Remove a whole index without asking");
  const auto [verifying, verify_options] =
      simple("verify", "Check that everything of an index is there and fits together", verify);
  verifying->add_flag("--json", verify_options->json, "As JSON");
  simple("rebuild", "Make what searches anew from the documents", rebuild);
}

}  // namespace plimsoll
