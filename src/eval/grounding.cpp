#include "eval/grounding.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::eval {
namespace {

using OrderedJson = nlohmann::ordered_json;

Result<GroundingCase> read_case(std::string_view line, std::size_t number) {
  const OrderedJson json = base::parse_json(line);
  const auto bad = [&](std::string_view what) { return fail(Errc::bad_input, "line {}: {}", number, what); };
  if (!json.is_object()) return bad("expected a JSON object");
  const auto text = [&](const char* key) {
    const OrderedJson value = json.value(key, OrderedJson(""));
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  GroundingCase one;
  one.sentence = text("sentence");
  one.question = text("question");
  one.kind = text("kind");
  if (one.sentence.empty()) return bad("'sentence' is missing");
  const OrderedJson truth = json.value("supported", OrderedJson());
  if (!truth.is_boolean()) return bad("'supported' must be true or false");
  one.is_supported = truth.get<bool>();
  const OrderedJson passages = json.value("passages", OrderedJson());
  if (!passages.is_array()) return bad("'passages' must be a list of texts");
  for (const OrderedJson& passage : passages) {
    if (!passage.is_string()) return bad("'passages' must be a list of texts");
    one.passages.push_back(passage.get<std::string>());
  }
  return one;
}

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

Result<std::vector<GroundingCase>> read_grounding_cases(std::string_view lines) {
  std::vector<GroundingCase> cases;
  std::size_t number = 0;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = base::trim(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ++number;
    if (line.empty()) continue;
    TRY(GroundingCase one, read_case(line, number));
    cases.push_back(std::move(one));
  }
  return cases;
}

GroundingReport evaluate_grounding(const std::vector<GroundingCase>& cases, const Similarity& similarity) {
  GroundingReport report;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const GroundingCase& one = cases[i];
    std::vector<GivenPassage> passages;
    for (const std::string& passage : one.passages) passages.push_back({passage});
    GroundingOptions options;
    options.question = one.question;
    options.similarity = similarity;
    const bool flagged = check_answer(one.sentence, passages, options).unsupported > 0;
    auto score = std::ranges::find_if(report.kinds, [&](const GroundingScore& any) {
      return any.kind == one.kind && any.is_supported == one.is_supported;
    });
    if (score == report.kinds.end())
      score = report.kinds.insert(
          score, {.kind = one.kind, .cases = 0, .is_supported = one.is_supported, .flagged = 0});
    ++score->cases;
    score->flagged += flagged ? 1 : 0;
    report.made_up += one.is_supported ? 0 : 1;
    report.flagged += flagged ? 1 : 0;
    report.flagged_made_up += flagged && !one.is_supported ? 1 : 0;
    if (flagged == one.is_supported) report.wrong.push_back(i);
  }
  report.precision = share(report.flagged_made_up, report.flagged);
  report.recall = share(report.flagged_made_up, report.made_up);
  return report;
}

std::string report_json(const GroundingReport& report) {
  OrderedJson kinds = OrderedJson::array();
  for (const GroundingScore& score : report.kinds)
    kinds.push_back({{"kind", score.kind},
                     {"supported", score.is_supported},
                     {"cases", score.cases},
                     {"found_unsupported", score.flagged}});
  return base::json_text(OrderedJson{
      {"precision", report.precision}, {"recall", report.recall}, {"kinds", kinds}, {"wrong", report.wrong}});
}

}  // namespace plimsoll::eval
