#include "eval/evidence.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::eval {
namespace {

EvidenceData data_of(std::map<std::string, std::string> documents, std::string_view lines) {
  auto questions = read_questions(lines, documents);
  EXPECT_TRUE(questions) << questions.error().what;
  return {.questions = *questions, .documents = std::move(documents)};
}

TEST(Evidence, SpansCountCharactersAndMayNameTheirDocument) {
  const auto data = data_of(
      {{"a", "Größe: ünf."}, {"b", "other"}},
      R"({"question": "q", "document": "a", "evidence": [{"start": 0, "end": 5}, {"document": "b", "start": 1, "end": 3}]})");
  ASSERT_EQ(data.questions.size(), 1U);
  EXPECT_EQ(data.questions[0].evidence[0].span, (Span{0, 7}));  // ö and ß take two bytes each
  EXPECT_EQ(data.questions[0].evidence[1].document, "b");
  EXPECT_EQ(data.questions[0].evidence[1].span, (Span{1, 3}));
}

TEST(Evidence, BadLinesAreNamed) {
  for (const char* line : {"x", "{}", R"({"question": "q", "evidence": [{}]})",
                           R"({"question": "q", "document": "no", "evidence": [{"start": 0, "end": 1}]})",
                           R"({"question": "q", "document": "a", "evidence": [{"start": 1, "end": 1}]})",
                           R"({"question": "q", "document": "a", "evidence": [{"start": 0, "end": 99}]})",
                           R"({"question": "q", "document": "a", "evidence": [{"start": -1, "end": 1}]})"}) {
    const auto read = read_questions(std::string("\n") + line, {{"a", "text"}});
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().code, Errc::bad_input);
    EXPECT_NE(read.error().what.find("line"), std::string::npos) << read.error().what;
  }
}

TEST(Evidence, CoverageIsOfCharactersEachCountedOnce) {
  const auto data = data_of(
      {{"a", "0123456789 abcdefghi"}},
      R"({"question": "q", "document": "a", "evidence": [{"start": 0, "end": 8}, {"start": 4, "end": 11}]})");
  const Question& question = data.questions[0];
  const EvidenceSpan half[] = {{"a", {0, 5}}, {"a", {3, 6}}};
  const Coverage partly = coverage_of(question, half, data);
  EXPECT_NEAR(partly.recall, 6.0 / 11, 1e-9);
  EXPECT_FALSE(partly.all);
  EXPECT_NEAR(partly.precision, 1.0, 1e-9);
  const EvidenceSpan most[] = {{"a", {0, 10}}};
  const Coverage all = coverage_of(question, most, data);
  EXPECT_NEAR(all.recall, 10.0 / 11, 1e-9);
  EXPECT_TRUE(all.all);  // what is missing is a blank
  const EvidenceSpan wide[] = {{"a", {0, 20}}};
  EXPECT_NEAR(coverage_of(question, wide, data).precision, 11.0 / 20, 1e-9);
  EXPECT_EQ(coverage_of(question, {}, data).recall, 0.0);
}

TEST(Evidence, ReportsTheMeanByBudget) {
  const auto data =
      data_of({{"a", "0123456789"}},
              "{\"question\": \"one\", \"document\": \"a\", \"evidence\": [{\"start\": 0, \"end\": 5}]}\n"
              "{\"question\": \"two\", \"document\": \"a\", \"evidence\": [{\"start\": 5, \"end\": 10}]}\n");
  const Tokens budgets[] = {5, 10};
  std::size_t told = 0;
  const auto report = evaluate(
      data, budgets,
      [](std::string_view, Tokens budget) -> Result<Selection> {
        Selection out;
        out.tokens = budget;
        out.passages.emplace_back();
        out.passages[0].key = "a";
        out.passages[0].source = {0, static_cast<std::uint64_t>(budget)};
        return out;
      },
      [&](std::size_t done) { told = done; });
  ASSERT_TRUE(report);
  EXPECT_EQ(told, 2U);
  EXPECT_NEAR(report->budgets[0].recall, 0.5, 1e-9);
  EXPECT_NEAR(report->budgets[0].all_evidence, 0.5, 1e-9);
  EXPECT_NEAR(report->budgets[1].recall, 1.0, 1e-9);
  EXPECT_NEAR(report->budgets[1].precision, 0.5, 1e-9);
  const auto json = nlohmann::json::parse(report_json(*report));
  EXPECT_EQ(json["questions"], 2);
  EXPECT_EQ(json["budgets"][1]["tokens_used"], 10.0);
}

}  // namespace
}  // namespace plimsoll::eval
