#include "eval/evidence.hpp"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json/json_shape.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::eval {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Where code point i of a text starts, for all i up to its end.
std::vector<std::uint64_t> starts_of(std::string_view text) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i])) out.push_back(i);
  }
  out.push_back(text.size());
  return out;
}

using Json = nlohmann::json;

Result<EvidenceSpan> read_span(const Json& entry, const std::string& document, std::size_t line,
                               const std::map<std::string, std::vector<std::uint64_t>>& starts) {
  if (!entry.is_object() || !entry.contains("start") || !entry.contains("end") ||
      !entry["start"].is_number_unsigned() || !entry["end"].is_number_unsigned()) {
    return fail(Errc::bad_input, "questions.jsonl, line {}: an evidence entry needs `start` and `end`", line);
  }
  std::string name = document;
  if (entry.contains("document") && entry["document"].is_string())
    name = entry["document"].get<std::string>();
  const auto found = starts.find(name);
  if (found == starts.end())
    return fail(Errc::bad_input, "questions.jsonl, line {}: there is no corpora/{}", line, name);
  const auto start = entry["start"].get<std::uint64_t>();
  const auto end = entry["end"].get<std::uint64_t>();
  if (start >= end || end >= found->second.size()) {
    return fail(Errc::bad_input,
                "questions.jsonl, line {}: {} to {} is no span of {}, which has {} characters", line, start,
                end, name, found->second.size() - 1);
  }
  return EvidenceSpan{name, {found->second[start], found->second[end]}};
}

Result<Question> read_question(std::string_view text, std::size_t line,
                               const std::map<std::string, std::vector<std::uint64_t>>& starts) {
  TRY_VOID(base::check_json_shape(text, "the line"));
  const Json entry = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!entry.is_object() || !entry.contains("question") || !entry["question"].is_string() ||
      !entry.contains("evidence") || !entry["evidence"].is_array()) {
    return fail(Errc::bad_input, "questions.jsonl, line {}: not an object with `question` and `evidence`",
                line);
  }
  Question out{.text = entry["question"].get<std::string>(), .evidence = {}};
  const std::string document =
      entry.contains("document") && entry["document"].is_string() ? entry["document"].get<std::string>() : "";
  for (const Json& span : entry["evidence"]) {
    TRY(auto read, read_span(span, document, line, starts));
    out.evidence.push_back(std::move(read));
  }
  return out;
}

std::int64_t characters(std::string_view text, Span span) {
  return std::count_if(text.begin() + static_cast<std::ptrdiff_t>(span.start),
                       text.begin() + static_cast<std::ptrdiff_t>(span.end), starts_character);
}

bool is_blank(std::string_view text, Span span) {
  return base::trim(text.substr(span.start, span.size())).empty();
}

// The parts of one span that the others, ascending and apart, leave bare.
std::vector<Span> bare(Span span, const std::vector<Span>& covers) {
  std::vector<Span> out;
  for (const Span& cover : covers) {
    if (cover.end <= span.start || cover.start >= span.end) continue;
    if (cover.start > span.start) out.push_back({span.start, cover.start});
    span.start = std::min(cover.end, span.end);
  }
  if (span.start < span.end) out.push_back(span);
  return out;
}

std::map<std::string, std::vector<Span>> united(std::span<const EvidenceSpan> spans) {
  std::map<std::string, std::vector<Span>> out;
  for (const EvidenceSpan& each : spans) out[each.document].push_back(each.span);
  for (auto& [document, list] : out) {
    std::sort(list.begin(), list.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    std::vector<Span> apart;
    for (const Span& span : list) {
      if (!apart.empty() && span.start <= apart.back().end) {
        apart.back().end = std::max(apart.back().end, span.end);
      } else {
        apart.push_back(span);
      }
    }
    list = std::move(apart);
  }
  return out;
}

}  // namespace

Result<std::vector<Question>> read_questions(std::string_view lines,
                                             const std::map<std::string, std::string>& documents) {
  std::map<std::string, std::vector<std::uint64_t>> starts;
  for (const auto& [name, text] : documents) starts[name] = starts_of(text);
  std::vector<Question> out;
  std::size_t line = 0;
  while (!lines.empty()) {
    const std::string_view text = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), text.size() + 1));
    ++line;
    if (base::trim(text).empty()) continue;
    TRY(auto question, read_question(text, line, starts));
    out.push_back(std::move(question));
  }
  return out;
}

Result<EvidenceData> read_evidence_data(const std::filesystem::path& folder) {
  EvidenceData data;
  std::error_code error;
  const std::filesystem::path corpora = folder / "corpora";
  for (const auto& entry : std::filesystem::directory_iterator(corpora, error)) {
    if (!entry.is_regular_file()) continue;
    TRY(auto text, base::read_file(entry.path(), most_bytes));
    if (!base::is_valid_utf8(text)) return fail(Errc::bad_input, "{}: not UTF-8", entry.path().string());
    data.documents.emplace(entry.path().filename().string(), std::move(text));
  }
  if (error || data.documents.empty())
    return fail(Errc::not_found, "{}: no documents there", corpora.string());
  TRY(const auto lines, base::read_file(folder / "questions.jsonl", most_bytes));
  TRY(data.questions, read_questions(lines, data.documents));
  if (data.questions.empty())
    return fail(Errc::bad_input, "{}: no questions", (folder / "questions.jsonl").string());
  return data;
}

Coverage coverage_of(const Question& question, std::span<const EvidenceSpan> passages,
                     const EvidenceData& data) {
  const auto covers = united(passages);
  std::int64_t wanted = 0, missing = 0, shown = 0;
  Coverage out{.recall = 0, .all = true, .precision = 0};
  for (const auto& [document, spans] : united(question.evidence)) {
    const std::string& text = data.documents.at(document);
    const auto found = covers.find(document);
    for (const Span& span : spans) {
      wanted += characters(text, span);
      for (const Span& gap : found == covers.end() ? std::vector{span} : bare(span, found->second)) {
        missing += characters(text, gap);
        out.all = out.all && is_blank(text, gap);
      }
    }
  }
  for (const auto& [document, spans] : covers) {
    for (const Span& span : spans) shown += characters(data.documents.at(document), span);
  }
  if (wanted > 0) out.recall = static_cast<double>(wanted - missing) / static_cast<double>(wanted);
  if (shown > 0) out.precision = static_cast<double>(wanted - missing) / static_cast<double>(shown);
  return out;
}

Result<EvidenceReport> evaluate(const EvidenceData& data, std::span<const Tokens> budgets,
                                const SearchOne& search, const std::function<void(std::size_t)>& progress) {
  EvidenceReport report;
  for (const Tokens budget : budgets) report.budgets.push_back({.budget = budget, .by_question = {}});
  const auto started = std::chrono::steady_clock::now();
  for (const Question& question : data.questions) {
    for (BudgetScore& score : report.budgets) {
      TRY(const Selection selection, search(question.text, score.budget));
      std::vector<EvidenceSpan> passages;
      for (const SelectedPassage& passage : selection.passages)
        passages.push_back({passage.key, passage.source});
      const Coverage coverage = coverage_of(question, passages, data);
      score.recall += coverage.recall;
      score.all_evidence += coverage.all ? 1 : 0;
      score.precision += coverage.precision;
      score.by_question.push_back(coverage);
      score.tokens_used += static_cast<double>(selection.tokens);
    }
    progress(++report.questions);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
  const auto count = static_cast<double>(report.questions);
  for (BudgetScore& score : report.budgets) {
    score.recall /= count;
    score.all_evidence /= count;
    score.precision /= count;
    score.tokens_used /= count;
  }
  if (!budgets.empty()) report.ms_per_query = took.count() / (count * static_cast<double>(budgets.size()));
  return report;
}

std::string report_json(const EvidenceReport& report, bool by_question) {
  nlohmann::ordered_json out;
  out["budgets"] = nlohmann::ordered_json::array();
  for (const BudgetScore& score : report.budgets) {
    out["budgets"].push_back({{"budget", score.budget},
                              {"recall", score.recall},
                              {"all_evidence", score.all_evidence},
                              {"precision", score.precision},
                              {"tokens_used", score.tokens_used}});
    if (!by_question) continue;
    auto& recall = out["budgets"].back()["recall_by_question"] = nlohmann::ordered_json::array();
    auto& all = out["budgets"].back()["all_by_question"] = nlohmann::ordered_json::array();
    for (const Coverage& coverage : score.by_question) {
      recall.push_back(coverage.recall);
      all.push_back(coverage.all ? 1 : 0);
    }
  }
  out["questions"] = report.questions;
  out["ms_per_query"] = report.ms_per_query;
  out["by_meaning"] = report.by_meaning;
  return out.dump();
}

}  // namespace plimsoll::eval
