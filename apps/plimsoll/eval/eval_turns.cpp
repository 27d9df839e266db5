#include "eval/eval_turns.hpp"

#include <memory>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json/json_text.hpp"
#include "base/temporary_folder.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "conversation/turn_vectors.hpp"
#include "eval/turns.hpp"
#include "index/documents.hpp"
#include "index/stores.hpp"
#include "render/assemble.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr std::chrono::seconds turns_patience{60};

struct TurnsOptions {
  std::string data;
  std::vector<Tokens> budgets{500, 1'000, 2'000};
  std::string tokenizer = "o200k_base";
  std::string half = "all";
  bool no_embedder = false;
  bool json = false;
};

// Vectors of all questions and of all turns of users.
struct TurnsMeanings {
  std::vector<conversation::SentenceVectors> questions, turns;
};

Result<TurnsMeanings> embed_conversation(const eval::TurnsData& data, Embedder& embedder) {
  TurnsMeanings out;
  ProgressBar progress(data.turns.size(), "turn");
  for (const eval::TurnsQuestion& question : data.questions) {
    TRY(const auto vector, embedder.embed_query(question.text, Deadline::after(turns_patience)));
    out.questions.push_back(conversation::packed_vectors(vector));
  }
  out.turns.resize(data.turns.size());
  for (std::size_t i = 0; i < data.turns.size(); ++i) {
    if (!data.turns[i].by_user) continue;
    const std::string_view text = data.turns[i].text;
    TRY(auto vectors,
        conversation::embed_turns(embedder, std::span(&text, 1), Deadline::after(turns_patience)));
    out.turns[i] = std::move(vectors[0]);
    progress.show(i, i, "");
  }
  return out;
}

nlohmann::ordered_json turns_json(const eval::TurnsReport& report) {
  nlohmann::ordered_json budgets = nlohmann::ordered_json::array();
  for (const eval::TurnsScore& score : report.budgets) {
    nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
    for (const auto& kind : score.kinds)
      kinds[kind.name] = {{"questions", kind.questions}, {"all_evidence", kind.all_evidence}};
    budgets.push_back({{"budget", score.budget},
                       {"all_evidence", score.all_evidence},
                       {"recall", score.recall},
                       {"tokens_used", score.tokens_used},
                       {"kinds", std::move(kinds)}});
  }
  return {{"questions", report.questions},
          {"sessions", report.sessions},
          {"turns", report.turns},
          {"ms_per_question", report.ms_per_question},
          {"budgets", std::move(budgets)}};
}

std::string turns_table(const eval::TurnsReport& ours, const eval::TurnsReport& peer) {
  Table table{{"BUDGET", "ALL EVIDENCE", "TURNS", "TOKENS USED", "PLAIN BM25"},
              {true, true, true, true, true},
              {},
              false};
  for (std::size_t i = 0; i < ours.budgets.size(); ++i) {
    const eval::TurnsScore& score = ours.budgets[i];
    table.rows.push_back({base::with_thousands(score.budget), fmt::format("{:.3f}", score.all_evidence),
                          fmt::format("{:.3f}", score.recall), fmt::format("{:.0f}", score.tokens_used),
                          fmt::format("{:.3f}", peer.budgets[i].all_evidence)});
  }
  return draw(table, terminal_of_stdout()) +
         fmt::format("\n{} questions of {} sessions with {} messages, {:.1f} ms each\n", ours.questions,
                     ours.sessions, ours.turns, ours.ms_per_question);
}

Result<void> run_turns(const Globals& globals, const TurnsOptions& options) {
  constexpr std::uint64_t most_bytes = 1'000'000'000;
  TRY(const std::string json, base::read_file(options.data, most_bytes));
  TRY(const eval::TurnsData data, eval::read_turns_data(json));
  TRY(config::Settings settings, load_settings(globals));
  const base::TemporaryFolder folder("eval");
  if (folder.path().empty()) return fail(Errc::io_failed, "cannot create a temporary folder");
  settings = with_own_file(std::move(settings), folder / "store.db");
  TRY(auto documents, Documents::open(settings, /*create=*/true));
  TRY(const Tokenizer tokenizer, documents->tokenizers().open(options.tokenizer));
  TurnsMeanings meanings;
  if (!options.no_embedder && !settings.embedders.empty()) {
    TRY(Embedder * embedder, documents->embedder(settings.embedders.front()));
    TRY(meanings, embed_conversation(data, *embedder));
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < data.questions.size(); ++i)
    if (options.half == "all" || (i % 2 == 0) == (options.half == "first")) places.push_back(i);
  const conversation::TurnIndex index = eval::index_of(data);
  const auto count = [&](std::string_view text) { return tokenizer.count(text); };
  const auto count_sent = [&](std::size_t turn, std::string_view part) {
    const eval::PooledTurn& said = data.turns[turn];
    const bool cut = part.size() < said.text.size();
    return tokenizer.count(
        render::earlier_text({said.number, said.by_user, said.at_ms, std::string(part), cut, cut}));
  };
  const Tokens frame = tokenizer.count(render::earlier_frame());
  const auto find = [&](const eval::TurnsQuestion& question, std::size_t place, Tokens budget) {
    conversation::TurnQuestion asked{question.text, question.at_ms, {}, {}};
    if (!meanings.turns.empty()) {
      asked.vector = meanings.questions[place];
      asked.meanings = meanings.turns;
    }
    return Result<std::vector<conversation::RecalledPart>>(
        conversation::choose_turns(index, index.rank(asked), budget - frame, count_sent));
  };
  const auto find_plain = [&](const eval::TurnsQuestion& question, std::size_t, Tokens budget) {
    return Result<std::vector<conversation::RecalledPart>>(conversation::choose_turns(
        index, index.rank_by_words(question.text), budget,
        [&](std::size_t, std::string_view part) { return tokenizer.count(part); }, /*whole=*/true));
  };
  TRY(const auto ours, eval::evaluate_turns(data, places, options.budgets, count, find));
  TRY(const auto peer, eval::evaluate_turns(data, places, options.budgets, count, find_plain));
  return print_out(options.json ? base::json_text(nlohmann::ordered_json{{"turns", turns_json(ours)},
                                                                         {"plain_bm25", turns_json(peer)}}) +
                                      "\n"
                                : turns_table(ours, peer));
}

constexpr const char* about_turns =
    "FILE is a JSON list of questions as LongMemEval has them. The sessions of all questions are pooled\n"
    "into one conversation, and each question is asked of all of it. All-evidence is the share of\n"
    "questions for which every turn with the answer is found within the budget, TURNS the share of these\n"
    "turns. A turn counts if half of it, or 80 tokens of it, is found. Labels count against the budget,\n"
    "except for plain BM25 over whole turns, which is measured beside it.\n\n"
    "Example:\n"
    "  plimsoll eval turns --data longmemeval_oracle.json --half second\n";

}  // namespace

void add_eval_turns(CLI::App& eval_command, const Globals& globals, int& exit_code) {
  CLI::App* turns =
      eval_command.add_subcommand("turns", "Measure which turns of a long conversation are found again");
  auto asked = std::make_shared<TurnsOptions>();
  turns->footer(about_turns);
  turns->add_option("--data", asked->data, "File with questions and sessions")->type_name("FILE")->required();
  turns
      ->add_option("--budgets", asked->budgets, "Token budgets, separated by commas (default: 500,1000,2000)")
      ->type_name("TOKENS")
      ->delimiter(',')
      ->check(CLI::Range(Tokens{1}, Tokens{100'000'000}));
  turns->add_option("--tokenizer", asked->tokenizer, "Tokenizer to count with (default: o200k_base)")
      ->type_name("T");
  turns
      ->add_option("--half", asked->half,
                   "Every second question, from the first or the second on (default: all)")
      ->check(CLI::IsMember({"all", "first", "second"}));
  turns->add_flag("--no-embedder", asked->no_embedder, "Compare words only, not meanings");
  turns->add_flag("--json", asked->json, "Print JSON");
  turns->callback([asked, &globals, &exit_code] {
    if (const auto done = run_turns(globals, *asked); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
