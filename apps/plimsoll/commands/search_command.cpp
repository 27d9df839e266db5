#include "commands/search_command.hpp"

#include <chrono>
#include <memory>

#include <fmt/ranges.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "index/index_filter.hpp"
#include "plimsoll/plan.hpp"
#include "reports/passages_report.hpp"
#include "serve/known_models.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr std::chrono::seconds search_patience{60};
constexpr Tokens most_unasked = 1'000;  // of passages, if the user names no budget

struct SearchCommandOptions {
  std::string index;
  std::vector<std::string> words;  // of the query
  std::optional<Tokens> budget;
  std::string tokenizer;
  std::string model;
  std::optional<std::size_t> top_k;
  std::vector<std::string> filters;
  std::string order = "document";
  bool no_labels = false;
  bool context = false;
  bool json = false;
};

// Returns the tokenizer for the budget: the one given, the model's, or the index's.
Result<Tokenizer> tokenizer_for(const config::Settings& settings, Documents& documents,
                                const IndexInfo& index, const SearchCommandOptions& options,
                                std::vector<std::string>& notes) {
  if (!options.tokenizer.empty()) return documents.tokenizers().open(options.tokenizer);
  if (options.model.empty()) return documents.tokenizers().open(index.settings.tokenizer);
  TRY(const ModelCatalogue catalogue, known_models(settings));
  const CatalogueModels models(catalogue, documents.tokenizers());
  TRY(PlanModel model, models.open(options.model));
  if (model.exactness != Exactness::exact) {
    notes.push_back(
        fmt::format("tokens of {} are {}: {}", options.model, name_of(model.exactness), model.why));
    const auto near = catalogue.find(options.model) ? std::nullopt : catalogue.nearest(options.model);
    if (near) notes.back() += fmt::format("; did you mean '{}'?", *near);
  }
  return std::move(model.tokenizer);
}

Result<void> run(const Globals& globals, const SearchCommandOptions& options) {
  const std::string query = fmt::format("{}", fmt::join(options.words, " "));
  if (base::trim(query).empty()) return fail(Errc::bad_input, "the query is empty");
  TRY(const config::Settings settings, load_settings(globals));
  const auto order = passage_order_named(options.order);
  if (!order)
    return fail(Errc::bad_input, "unknown order '{}'; use document, best-first, best-last or both-ends",
                options.order);
  TRY(auto documents, Documents::open(settings, /*create=*/false));
  TRY(auto searchable, documents->open_index(options.index));
  SearchReport report{.selection = {},
                      .budget = options.budget.value_or(most_unasked),
                      .candidates = 0,
                      .ms = 0,
                      .tokenizer = {},
                      .notes = searchable.notes};
  TRY(const Tokenizer tokenizer,
      tokenizer_for(settings, *documents, searchable.open.info, options, report.notes));
  retrieve::GatherOptions gather;
  gather.candidates = retrieve::candidates_for(report.budget, searchable.open.info.settings.chunk_tokens);
  TRY(gather.filter, read_filters(options.filters));
  report.tokenizer = tokenizer.info().name;

  const auto started = std::chrono::steady_clock::now();
  TRY(const Evidence evidence,
      library::find_evidence(searchable.open, query, gather, Deadline::after(search_patience)));
  SelectOptions select{.budget = report.budget,
                       .order = *order,
                       .most_passages = options.top_k,
                       .labels = !options.no_labels,
                       .recount = tokenizer.info().name != searchable.open.info.settings.tokenizer};
  if (!options.budget && !options.top_k) retrieve::Cutoff{}.apply(select);
  report.selection = select_passages(evidence, tokenizer, select);
  if (report.selection.passages.empty() && evidence.candidates > 0 && select.least_relevance > 0)
    report.notes.emplace_back(
        "nothing in the index is near the query; --budget shows the nearest text all the same");
  TRY_VOID(library::locate(searchable.open, report.selection));
  report.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  report.candidates = evidence.candidates;
  report.notes.insert(report.notes.end(), evidence.notes.begin(), evidence.notes.end());

  if (options.json) return print_out(passages_json(report));
  if (options.context) return print_out(report.selection.text + "\n");
  return print_out(passages_text(report, terminal_of_stdout()));
}

constexpr const char* search_examples =
    "Examples:\n"
    "  plimsoll search manual \"how is the margin chosen?\" --budget 500\n"
    "  plimsoll search manual \"margin\" --budget 500 --model llama3.1:8b   counted with the model's "
    "tokenizer\n"
    "  plimsoll search code \"where are keys checked?\" --filter type=text/x-python\n"
    "  plimsoll search manual \"margin\" --budget 2000 --context            only the text, for a prompt\n";

}  // namespace

void add_search_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<SearchCommandOptions>();
  CLI::App* command =
      app.add_subcommand("search", "Find the best passages for a query, within a token budget");
  command->footer(search_examples);
  command->add_option("NAME", options->index, "The index")->required();
  command->add_option("QUERY", options->words, "The query, one or more words")->required();
  command
      ->add_option("--budget", options->budget,
                   "Most tokens for all passages with their labels, filled with the nearest text (default: "
                   "what is relevant, at most 1000)")
      ->type_name("TOKENS")
      ->check(CLI::Range(Tokens{1}, Tokens{100'000'000}));
  auto* tokenizer =
      command->add_option("--tokenizer", options->tokenizer, "Tokenizer to count with (default: the index's)")
          ->type_name("T");
  command->add_option("--model", options->model, "Count with this model's tokenizer")
      ->type_name("M")
      ->excludes(tokenizer);
  command->add_option("--top-k", options->top_k, "Most passages")
      ->type_name("K")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}));
  command->add_option("--filter", options->filters, "Only documents with this metadata; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--order", options->order,
                   "Order of passages: document, best-first, best-last or both-ends (default: document)")
      ->type_name("ORDER");
  command->add_flag("--no-labels", options->no_labels, "Leave out the number and name before each passage");
  command->add_flag("--context", options->context, "Print only the text for a prompt");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
