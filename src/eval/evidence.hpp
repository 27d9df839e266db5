// How much of the evidence for a question gets into a budget of tokens.
//
// A dataset is a folder: `questions.jsonl`, a line a question, {question, document, evidence: [{start,
// end}]}, spans in code points of `corpora/<document>`; an evidence entry may name its own document.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/passage.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::eval {

struct EvidenceSpan {
  std::string document;
  Span span;  // bytes of the file
};

struct Question {
  std::string text;
  std::vector<EvidenceSpan> evidence;
};

struct EvidenceData {
  std::vector<Question> questions;
  std::map<std::string, std::string> documents;  // text by name
};

// bad_input names the line; not_found the file.
Result<EvidenceData> read_evidence_data(const std::filesystem::path& folder);
// Pure, for tests and fuzzing: the lines of questions.jsonl against documents that are there.
Result<std::vector<Question>> read_questions(std::string_view lines,
                                             const std::map<std::string, std::string>& documents);

// What one selection has of one question's evidence. Counted in code points, as the spans are.
struct Coverage {
  double recall = 0;     // share of the evidence that is inside
  bool all = false;      // all of it but white space
  double precision = 0;  // share of the passages that is evidence
};
// `passages`: by document's name, bytes of the file.
Coverage coverage_of(const Question& question, std::span<const EvidenceSpan> passages,
                     const EvidenceData& data);

struct BudgetScore {
  Tokens budget = 0;
  double recall = 0, all_evidence = 0, precision = 0, tokens_used = 0;
  std::vector<Coverage> by_question;  // in their order
};

struct EvidenceReport {
  std::vector<BudgetScore> budgets;
  std::size_t questions = 0;
  double ms_per_query = 0;
  bool by_meaning = false;
};

// `search`: the selection for a question and a budget, its spans in bytes of the files. `progress`: questions
// done.
using SearchOne = std::function<Result<Selection>(std::string_view question, Tokens budget)>;
Result<EvidenceReport> evaluate(const EvidenceData& data, std::span<const Tokens> budgets,
                                const SearchOne& search, const std::function<void(std::size_t)>& progress);

// `by_question`: also the recall and whether all evidence is inside, for each question.
std::string report_json(const EvidenceReport& report, bool by_question = false);

}  // namespace plimsoll::eval
