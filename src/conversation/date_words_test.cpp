#include "conversation/date_words.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace plimsoll::conversation {
namespace {

std::int64_t day(int year, unsigned month, unsigned number) {
  return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(number))
      .time_since_epoch()
      .count();
}

const std::int64_t monday = day(2023, 4, 10);

std::vector<DayRange> named(std::string_view question) {
  return days_named(question, monday);
}

TEST(DateWords, TakesDistancesFromTheDayOfTheQuestion) {
  EXPECT_EQ(named("What did I buy 10 days ago?"), (std::vector<DayRange>{{monday - 11, monday - 9}}));
  EXPECT_EQ(named("Where was I three weeks ago?"), (std::vector<DayRange>{{monday - 24, monday - 18}}));
  EXPECT_EQ(named("What was it a couple of weeks ago?"), (std::vector<DayRange>{{monday - 17, monday - 11}}));
  EXPECT_TRUE(named("Two months ago I went where?").at(0).has(day(2023, 2, 8)));
}

TEST(DateWords, TakesPeriodsThatEndToday) {
  const auto weeks = named("How often did I bake in the past two weeks?");
  ASSERT_EQ(weeks.size(), 1U);
  EXPECT_TRUE(weeks[0].has(monday));
  EXPECT_TRUE(weeks[0].has(monday - 14));
  EXPECT_FALSE(weeks[0].has(monday - 20));
  EXPECT_TRUE(weeks[0].is_narrow());
  EXPECT_FALSE(named("What did I read this year?").at(0).is_narrow());
}

TEST(DateWords, TakesTheLastDayOfThatName) {
  EXPECT_EQ(named("Who called last Friday?"), (std::vector<DayRange>{{monday - 3, monday - 3}}));
  EXPECT_EQ(named("Who called on Monday?"), (std::vector<DayRange>{{monday - 7, monday - 7}}));
}

TEST(DateWords, TakesMonthsAndSeasonsOfTheLastTwelveMonths) {
  EXPECT_TRUE(named("Which trips did I make in March?").at(0).has(day(2023, 3, 1)));
  EXPECT_TRUE(named("Which trips did I make in November?").at(0).has(day(2022, 11, 30)));
  EXPECT_TRUE(named("What happened on February 14th?").at(0).has(day(2023, 2, 14)));
  EXPECT_TRUE(named("What happened on the 14th of February 2021?").at(0).has(day(2021, 2, 14)));
  EXPECT_TRUE(named("Where did we sail last summer?").at(0).has(day(2022, 7, 1)));
}

TEST(DateWords, TakesNothingElse) {
  for (const char* question : {"May I come in?", "How many weeks passed between the two?", "They march on.",
                               "Is summer warm?", "What about February 31st?", ""})
    EXPECT_TRUE(named(question).empty()) << question;
}

}  // namespace
}  // namespace plimsoll::conversation
