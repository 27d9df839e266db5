#include "eval/grounding.hpp"

#include <gtest/gtest.h>

namespace plimsoll::eval {
namespace {

TEST(GroundingEval, CountsWhatIsFlagged) {
  const auto cases = read_grounding_cases(
      R"({"sentence": "The mast is 20 m high.", "supported": true, "passages": ["The mast is 20 m high."], "kind": "copy"}
{"sentence": "The mast is 30 m high.", "supported": false, "passages": ["The mast is 20 m high."], "kind": "number"}

{"sentence": "The mast is 20 m high.", "supported": false, "passages": ["The mast is 20 m high."], "kind": "number"}
)");
  ASSERT_TRUE(cases.has_value()) << cases.error().what;
  const GroundingReport report = evaluate_grounding(*cases, {});
  EXPECT_EQ(report.precision, 1);
  EXPECT_EQ(report.recall, 0.5);
  EXPECT_EQ(report.wrong, std::vector<std::size_t>{2});
  ASSERT_EQ(report.kinds.size(), 2U);
  EXPECT_EQ(report.kinds[1].flagged, 1U);
  EXPECT_NE(report_json(report).find(R"("recall":0.5)"), std::string::npos) << report_json(report);
}

TEST(GroundingEval, MistakesNameTheirLine) {
  for (const std::string_view line :
       {"[]", R"({"sentence": "A."})", R"({"sentence": "A.", "supported": true})",
        R"({"sentence": "A.", "supported": true, "passages": [1]})"}) {
    const auto cases = read_grounding_cases("\n" + std::string(line));
    ASSERT_FALSE(cases.has_value()) << line;
    EXPECT_TRUE(cases.error().what.starts_with("line 2: ")) << cases.error().what;
  }
}

}  // namespace
}  // namespace plimsoll::eval
