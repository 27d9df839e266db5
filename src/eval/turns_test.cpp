#include "eval/turns.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace plimsoll::eval {
namespace {

constexpr std::string_view two_questions = R"json([
 {"question": "Which dog?", "question_type": "one", "question_date": "2023/05/30 (Tue) 21:40",
  "haystack_session_ids": ["late", "early"], "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/01 (Mon) 10:00"],
  "haystack_sessions": [
   [{"role": "user", "content": "My dog is a poodle.", "has_answer": true}, {"role": "assistant", "content": "Nice."}],
   [{"role": "user", "content": "Hello there."}]]},
 {"question": "Nothing?", "question_type": "two", "question_date": "2023/05/30 (Tue) 21:40",
  "haystack_session_ids": ["late"], "haystack_dates": ["2023/05/21 (Sun) 02:21"],
  "haystack_sessions": [[{"role": "user", "content": "My dog is a poodle."}]]}])json";

TEST(Turns, PoolsSessionsByDateAndAsksWhatHasEvidence) {
  const auto data = read_turns_data(two_questions);
  ASSERT_TRUE(data) << data.error().what;
  EXPECT_EQ(data->sessions, 2U);
  ASSERT_EQ(data->turns.size(), 3U);
  EXPECT_EQ(data->turns[0].text, "Hello there.");
  EXPECT_EQ(data->turns[1].number, 2U);
  EXPECT_EQ(data->turns[2].number, 2U);
  EXPECT_LT(data->turns[0].at_ms, data->turns[1].at_ms);
  ASSERT_EQ(data->questions.size(), 1U);
  EXPECT_EQ(data->questions[0].evidence, std::vector<std::size_t>{1});
}

TEST(Turns, NamesWhatIsWrong) {
  for (const char* json : {"{}", "[1]", R"([{"question": "?"}])",
                           R"([{"question": "?", "question_date": "soon", "haystack_sessions": [],
                                "haystack_session_ids": [], "haystack_dates": []}])"})
    EXPECT_FALSE(read_turns_data(json)) << json;
}

TEST(Turns, CountATurnFromHalfOfItOn) {
  const auto data = read_turns_data(two_questions);
  ASSERT_TRUE(data);
  const std::vector<std::size_t> places{0};
  const std::vector<Tokens> budgets{10};
  const auto count = [](std::string_view text) { return static_cast<Tokens>(text.size()); };
  const auto score = [&](std::uint64_t end) {
    const auto report =
        evaluate_turns(*data, places, budgets, count, [&](const TurnsQuestion&, std::size_t, Tokens) {
          return Result<std::vector<conversation::RecalledPart>>({{1, {0, end}, 5, false}});
        });
    return report->budgets[0].all_evidence;
  };
  EXPECT_EQ(score(9), 0);
  EXPECT_EQ(score(10), 1);  // of 19
}

}  // namespace
}  // namespace plimsoll::eval
