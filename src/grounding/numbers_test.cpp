#include "grounding/numbers.hpp"

#include <gtest/gtest.h>

namespace plimsoll::grounding {
namespace {

// "1000", "10 %", separated by "|".
std::string numbers(std::string_view text) {
  std::string all;
  for (const Number& number : numbers_in(text)) {
    if (number.is_citation) continue;
    all += (all.empty() ? "" : "|") + number.value + (number.unit.empty() ? "" : " " + number.unit);
  }
  return all;
}

TEST(Numbers, AreEqualHoweverTheyAreWritten) {
  for (const std::string_view thousand :
       {"1000", "1,000", "1000.0", "1,000.00", "1 thousand", "1k", "One thousand"})
    EXPECT_EQ(numbers(thousand), "1000") << thousand;
  EXPECT_EQ(numbers("2.5 million"), "2500000");
  EXPECT_EQ(numbers("twelve"), "12");
  EXPECT_EQ(numbers(".5 and 0.50"), "0.5|0.5");
  EXPECT_EQ(numbers("on the 21st of May, 1990s"), "21|1990");
}

TEST(Numbers, HaveUnits) {
  EXPECT_EQ(numbers("10%, 10 percent, 10 per cent, 10 %"), "10 %|10 %|10 %|10 %");
  EXPECT_EQ(numbers("$5 million and 5 million dollars"), "5000000 $|5000000 $");
  EXPECT_EQ(numbers("10kg, 10 kg, 250 ms"), "10 kg|10 kg|250 ms");
  const auto all = numbers_in("10 kg 10 miles 10");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_FALSE(all[0].agrees_with(all[1]));
  EXPECT_TRUE(all[0].agrees_with(all[2]));
}

TEST(Numbers, ListsRangesAndDatesAreSeveral) {
  EXPECT_EQ(numbers("1861, 1862 and 3-5"), "1861|1862|3|5");
  EXPECT_EQ(numbers("2024-05-01 at 10:30"), "2024|5|1|10|30");
  EXPECT_EQ(numbers("It ended in 1861. Then"), "1861");
}

TEST(Numbers, AreNotInsideNames) {
  EXPECT_EQ(numbers("x86 gpt-4o SHA-256 num_2 3D utf8"), "");
  EXPECT_EQ(numbers("version 1.2.3"), "1.2.3");
  EXPECT_EQ(numbers("someone often alone"), "");
}

TEST(Numbers, CitationsAreMarked) {
  EXPECT_EQ(numbers("It has 7 legs [1] and arms [2, 3]."), "7|3");
  EXPECT_EQ(numbers("list[7"), "7");
}

}  // namespace
}  // namespace plimsoll::grounding
