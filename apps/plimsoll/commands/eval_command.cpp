#include "commands/eval_command.hpp"

#include <memory>

#include "adapters/onnx/reranker.hpp"
#include "ask/answer_check.hpp"
#include "base/files.hpp"
#include "base/temporary_folder.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "eval/eval_turns.hpp"
#include "eval/evidence.hpp"
#include "eval/grounding.hpp"
#include "index/documents.hpp"
#include "index/stores.hpp"
#include "ingest/pipeline.hpp"
#include "model/weights.hpp"
#include "retrieve/rerank.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr std::chrono::seconds eval_patience{60};

struct EvalOptions {
  std::string data;
  std::vector<Tokens> budgets{250, 500, 1'000, 2'000, 4'000};
  std::string tokenizer = "o200k_base";
  bool no_embedder = false;
  bool no_labels = false;
  bool no_links = false;
  bool no_parts = false;
  float rerank = 0;  // weight; 0: not
  bool cutoff = false;
  bool json = false;
  bool by_question = false;
};

// Puts the corpora into a temporary index, as `plimsoll index add` does.
Result<void> index_corpora(Documents& documents, const config::Settings& settings,
                           const EvalOptions& options) {
  IndexSettings wanted{
      .tokenizer = options.tokenizer, .chunk_tokens = settings.chunk_tokens, .embedders = {}};
  for (const std::string& name : options.no_embedder ? std::vector<std::string>{} : settings.embedders) {
    TRY(Embedder * embedder, documents.embedder(name));
    wanted.embedders.push_back(embedder->info());
  }
  TRY(const IndexInfo index, documents.store().create_index(local_owner, "evidence", wanted));
  TRY(const Tokenizer tokenizer, documents.tokenizers().open(options.tokenizer));
  TRY(const auto embedders, documents.embedders_of(index));
  std::vector<ingest::SourceFile> files;
  std::uint64_t total = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(options.data) / "corpora")) {
    files.push_back({.key = entry.path().filename().string(),
                     .source = {},
                     .path = entry.path(),
                     .bytes = entry.file_size(),
                     .wanted = true});
    total += entry.file_size();
  }
  ProgressBar progress(total, "sentence");
  ingest::IngestOptions ingest_options;
  ingest_options.cut.chunk_tokens = index.settings.chunk_tokens;
  ingest_options.metadata = {};
  TRY(const auto report,
      ingest::ingest_files({documents.store(), index, tokenizer, embedders}, files, ingest_options,
                           [&](const ingest::IngestCounts& counts, std::string_view key) {
                             progress.show(counts.bytes, counts.sentences, key);
                             return true;
                           }));
  if (!report.problems.empty())
    return fail(Errc::bad_input, "{}: {}", report.problems[0].key, report.problems[0].reason);
  return {};
}

Result<std::unique_ptr<Reranker>> open_reranker(const config::Settings& settings,
                                                const TokenizerLibrary& tokenizers) {
  const std::string name = "ms-marco-minilm-l-12-v2";
  const std::filesystem::path folder = std::filesystem::path(settings.assets_dir) / name;
  TRY_VOID(check_asset(settings, name));
  TRY(auto tokenizer, tokenizers.open_file(folder / "tokenizer.json"));
  return onnx::make_reranker(
      {.library = std::filesystem::path(settings.assets_dir) / "onnxruntime" / "libonnxruntime.so",
       .model = folder / "model.onnx",
       .tokenizer = std::move(tokenizer),
       .name = name,
       .threads = static_cast<unsigned>(settings.embed_threads)});
}

std::string report_table(const eval::EvidenceReport& report) {
  Table table{{"BUDGET", "RECALL", "ALL EVIDENCE", "PRECISION", "TOKENS USED"},
              {true, true, true, true, true},
              {},
              false};
  for (const eval::BudgetScore& score : report.budgets) {
    table.rows.push_back({base::with_thousands(score.budget), fmt::format("{:.3f}", score.recall),
                          fmt::format("{:.3f}", score.all_evidence), fmt::format("{:.3f}", score.precision),
                          fmt::format("{:.0f}", score.tokens_used)});
  }
  return draw(table, terminal_of_stdout()) +
         fmt::format("\n{} questions, {:.1f} ms per query, {}\n", report.questions, report.ms_per_query,
                     report.by_meaning ? "keyword and vector search" : "keyword search only");
}

Result<void> run_evidence(const Globals& globals, const EvalOptions& options) {
  TRY(config::Settings settings, load_settings(globals));
  TRY(const eval::EvidenceData data, eval::read_evidence_data(options.data));
  const base::TemporaryFolder folder("eval");
  if (folder.path().empty())
    return fail(Errc::io_failed,
                "cannot create a temporary folder for the index; check the space for temporary files");
  settings = with_own_file(std::move(settings), folder / "store.db");
  TRY(auto documents, Documents::open(settings, /*create=*/true));
  TRY_VOID(index_corpora(*documents, settings, options));
  TRY(const auto searchable, documents->open_index("evidence"));
  TRY(const Tokenizer tokenizer, documents->tokenizers().open(options.tokenizer));

  std::unique_ptr<Reranker> reranker;
  if (options.rerank > 0) {
    TRY(reranker, open_reranker(settings, documents->tokenizers()));
  }
  ProgressBar progress(data.questions.size(), "question");
  const auto search = [&](std::string_view question, Tokens budget) -> Result<Selection> {
    retrieve::GatherOptions gather;
    gather.candidates = retrieve::candidates_for(budget, searchable.open.info.settings.chunk_tokens);
    gather.links = !options.no_links;
    gather.parts = !options.no_parts;
    TRY(Evidence evidence,
        library::find_evidence(searchable.open, question, gather, Deadline::after(eval_patience)));
    if (reranker)
      TRY_VOID(retrieve::rerank(question, *reranker, {.weight = options.rerank},
                                Deadline::after(eval_patience), evidence));
    SelectOptions select;
    select.budget = budget;
    select.labels = !options.no_labels;
    if (options.cutoff) retrieve::Cutoff{}.apply(select);
    Selection selection = select_passages(evidence, tokenizer, select);
    TRY_VOID(library::locate(searchable.open, selection));
    return selection;
  };
  TRY(auto report, eval::evaluate(data, options.budgets, search,
                                  [&](std::size_t done) { progress.show(done, done, ""); }));
  report.by_meaning = !searchable.open.info.settings.embedders.empty();
  return print_out(options.json ? eval::report_json(report, options.by_question) + "\n"
                                : report_table(report));
}

std::string grounding_table(const eval::GroundingReport& report) {
  Table table{{"KIND", "TRUTH", "SENTENCES", "FOUND UNSUPPORTED"}, {false, false, true, true}, {}, false};
  for (const eval::GroundingScore& score : report.kinds)
    table.rows.push_back({printable(score.kind), score.is_supported ? "supported" : "unsupported",
                          base::with_thousands(static_cast<std::int64_t>(score.cases)),
                          base::with_thousands(static_cast<std::int64_t>(score.flagged))});
  return draw(table, terminal_of_stdout()) +
         fmt::format("\nunsupported: precision {:.3f}, recall {:.3f}\n", report.precision, report.recall);
}

Result<void> run_grounding(const Globals& globals, const EvalOptions& options) {
  constexpr std::uint64_t most_bytes = 100'000'000;
  TRY(const std::string lines, base::read_file(options.data, most_bytes));
  TRY(const auto cases, eval::read_grounding_cases(lines));
  TRY(config::Settings settings, load_settings(globals));
  const base::TemporaryFolder folder("eval");
  if (folder.path().empty()) return fail(Errc::io_failed, "cannot create a temporary folder");
  settings = with_own_file(std::move(settings), folder / "store.db");
  TRY(auto documents, Documents::open(settings, /*create=*/true));
  Similarity similarity;
  if (!options.no_embedder && !settings.embedders.empty()) {
    TRY(Embedder * embedder, documents->embedder(settings.embedders.front()));
    similarity = similarity_of(*embedder);
  }
  const auto report = eval::evaluate_grounding(cases, similarity);
  return print_out(options.json ? eval::report_json(report) + "\n" : grounding_table(report));
}

constexpr const char* about_cases =
    "FILE has a JSON object per line: {\"sentence\": ..., \"supported\": true, \"passages\": [\"text\"],\n"
    "\"question\": ..., \"kind\": ...}. The last two are optional. Prints how many sentences of each kind\n"
    "the check finds unsupported, and the precision and recall of that verdict.\n\n"
    "Example:\n"
    "  plimsoll eval grounding --data cases.jsonl\n";

constexpr const char* about_data =
    "DIR has questions.jsonl, one question per line: {\"question\": ..., \"document\": \"a.md\",\n"
    "\"evidence\": [{\"start\": 17, \"end\": 99}]}, and the documents in corpora/. Spans count\n"
    "characters; an evidence entry may name its own document.\n\n"
    "Recall is the share of the evidence that is in the passages, all-evidence the share of\n"
    "questions with all of their evidence, precision the share of the passages that is evidence.\n\n"
    "Example:\n"
    "  plimsoll eval evidence --data evidence --budgets 250,1000 --tokenizer o200k_base\n";

}  // namespace

void add_eval_command(CLI::App& app, const Globals& globals, int& exit_code) {
  CLI::App* command = app.add_subcommand("eval", "Measure retrieval and the check of answers");
  command->require_subcommand(1);
  auto options = std::make_shared<EvalOptions>();
  CLI::App* evidence =
      command->add_subcommand("evidence", "Measure how much evidence fits into token budgets");
  evidence->footer(about_data);
  evidence->add_option("--data", options->data, "Folder with questions and documents")
      ->type_name("DIR")
      ->required();
  evidence
      ->add_option("--budgets", options->budgets,
                   "Token budgets, separated by commas (default: 250,500,1000,2000,4000)")
      ->type_name("TOKENS")
      ->delimiter(',')
      ->check(CLI::Range(Tokens{1}, Tokens{100'000'000}));
  evidence->add_option("--tokenizer", options->tokenizer, "Tokenizer to count with (default: o200k_base)")
      ->type_name("T");
  evidence->add_flag("--no-embedder", options->no_embedder, "Keyword search only");
  evidence->add_flag("--no-labels", options->no_labels, "Leave out the number and name before each passage");
  evidence->add_flag("--no-links", options->no_links, "Do not follow names from one document to another");
  evidence->add_flag("--no-parts", options->no_parts, "Do not split questions of several parts");
  evidence
      ->add_option("--rerank", options->rerank,
                   "Let a cross-encoder judge the best passages, with this weight relative to our score "
                   "(`tools/setup reranker` fetches it)")
      ->type_name("WEIGHT")
      ->check(CLI::Range(0.0F, 10.0F));
  evidence->add_flag("--cutoff", options->cutoff,
                     "Stop at the relevance cutoff, like requests without a budget");
  evidence->add_flag("--json", options->json, "Print JSON");
  evidence->add_flag("--by-question", options->by_question, "With --json: also the result of each question");
  evidence->callback([options, &globals, &exit_code] {
    if (const auto done = run_evidence(globals, *options); !done) exit_code = complain(done.error());
  });
  CLI::App* grounding =
      command->add_subcommand("grounding", "Measure the check of answers on sentences with known truth");
  auto checks = std::make_shared<EvalOptions>();
  grounding->footer(about_cases);
  grounding->add_option("--data", checks->data, "File with sentences and their passages")
      ->type_name("FILE")
      ->required();
  grounding->add_flag("--no-embedder", checks->no_embedder, "Compare words only, not meanings");
  grounding->add_flag("--json", checks->json, "Print JSON");
  grounding->callback([checks, &globals, &exit_code] {
    if (const auto done = run_grounding(globals, *checks); !done) exit_code = complain(done.error());
  });
  add_eval_turns(*command, globals, exit_code);
}

}  // namespace plimsoll
