#include "commands/graph_command.hpp"

#include <memory>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/console/graph_json.hpp"
#include "index/documents.hpp"
#include "library/name_graph.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

struct GraphOptions {
  std::string index;
  std::vector<std::string> name;  // words
  std::size_t most = 20;
  bool json = false;
  bool dot = false;
};

std::string names_table(const std::vector<NameCount>& names) {
  Table table{{"NAME", "CHUNKS"}, {false, true}, {}, false};
  for (const NameCount& name : names)
    table.rows.push_back({printable(name.key), base::with_thousands(static_cast<std::int64_t>(name.chunks))});
  return draw(table, terminal_of_stdout());
}

std::string dot_text(std::string_view text) {
  return nlohmann::json(text).dump();  // DOT escapes quotes and backslashes as JSON does
}

// The name in the middle, documents as boxes.
std::string neighbours_dot(const library::NameNeighbours& found) {
  std::string out = "graph names {\n";
  const std::string middle = dot_text(found.key);
  const auto add_all = [&](const std::vector<std::string>& documents, std::string_view label) {
    for (const std::string& key : documents) {
      out += fmt::format("  {} [shape=box];\n", dot_text("document: " + key));
      out += fmt::format("  {} -- {} [label=\"{}\"];\n", middle, dot_text("document: " + key), label);
    }
  };
  add_all(found.titled, "title");
  add_all(found.others, "other name");
  add_all(found.mentions, "mention");
  for (const NameCount& name : found.names)
    out += fmt::format("  {} -- {} [label=\"{}\"];\n", middle, dot_text(name.key), name.chunks);
  return out + "}\n";
}

std::string neighbours_text(const library::NameNeighbours& found) {
  std::string out = fmt::format("{}: mentioned in {} {}\n", printable(found.key), found.chunks,
                                found.chunks == 1 ? "chunk" : "chunks");
  const auto add_all = [&](std::string_view what, const std::vector<std::string>& documents) {
    if (documents.empty()) return;
    out += fmt::format("\n{}\n", what);
    for (const std::string& key : documents) out += fmt::format("  {}\n", printable(key));
  };
  add_all("Title of", found.titled);
  add_all("Another name in", found.others);
  add_all("Mentioned in", found.mentions);
  if (!found.names.empty()) out += "\n" + names_table(found.names);
  return out;
}

Result<void> run_graph(const Globals& globals, const GraphOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(const auto searchable, documents->open_index(options.index));
  if (options.name.empty()) {
    if (options.dot) return fail(Errc::bad_input, "--dot draws one name: add it after the index");
    TRY(const auto names, searchable.open.index.most_mentioned(options.most));
    return print_out(options.json ? gateway::names_json(names).dump(2) + "\n" : names_table(names));
  }
  const std::string name = fmt::format("{}", fmt::join(options.name, " "));
  TRY(const auto found, library::neighbours_of(searchable.open, name, options.most));
  if (found.titled.empty() && found.others.empty() && found.chunks == 0)
    return fail(Errc::not_found,
                "the index '{}' has no name '{}'; 'plimsoll graph {}' lists the most frequent", options.index,
                name, options.index);
  return print_out(options.json  ? gateway::neighbours_json(found).dump(2) + "\n"
                   : options.dot ? neighbours_dot(found)
                                 : neighbours_text(found));
}

constexpr const char* graph_examples =
    "Names are capitalised words, titles, headings, acronyms, identifiers and link texts. Search\n"
    "follows them from one document to another.\n\n"
    "Examples:\n"
    "  plimsoll graph manual                      the most frequent names\n"
    "  plimsoll graph manual \"Mary Poppins\"       documents and names around one\n"
    "  plimsoll graph manual Ulster --dot | dot -Tsvg > ulster.svg\n";

}  // namespace

void add_graph_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<GraphOptions>();
  CLI::App* command = app.add_subcommand("graph", "Show the names of an index and what they connect");
  command->footer(graph_examples);
  command->add_option("NAME", options->index, "The index")->required();
  command->add_option("ENTITY", options->name, "A name in the documents; default: list the most frequent");
  command->add_option("--most", options->most, "Most entries of each list (default: 20)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}));
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--dot", options->dot, "Print a graph for Graphviz")->excludes(json);
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run_graph(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
