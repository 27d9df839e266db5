#include "retrieve/clutter.hpp"

#include <gtest/gtest.h>

namespace plimsoll::retrieve {
namespace {

TEST(Clutter, EntriesOfAContentsPageAreWorthLess) {
  for (const char* entry :
       {"2.4 Refuelling at sea ........ 17", "Refuelling . . . . . . 17", "Refuelling……17",
        "1 Loading ..... 3 2 Ballast ..... 9", "Refuelling at sea ......", "- [Install](#install)",
        "1. [Install](#install)\n2. [Use](use.md)"})
    EXPECT_LT(worth_of(entry), 1) << entry;
}

TEST(Clutter, TextThatWasReadWronglyIsWorthLess) {
  EXPECT_LT(worth_of("T h e m a s t e r s i g n s t h e l o g"), 1);
  EXPECT_LT(worth_of("The m\xEF\xBF\xBDster s\xEF\xBF\xBDgns the log"), 1);
}

TEST(Clutter, OrdinaryTextIsNotTouched) {
  for (const char* text :
       {"The master signs the log.", "Wait ... 3 minutes, then close the valve....",
        "See [the guide](guide.md) first.", "x = [a](b) + c", "1 2 3 4 5 6 7 8 9 10 11 12 13",
        "| 3 | 4 | 5 | 6 |", "for (i = 0; i < n; i++) { a[i] = 0; }",
        "若い 人 は 海 へ 行く 。 私 は 山 へ 行く 。 彼 は 家 に いる 。", "", "…",
        "one \xEF\xBF\xBD in a long sentence that goes on for quite a while after it"})
    EXPECT_EQ(worth_of(text), 1) << text;
}

}  // namespace
}  // namespace plimsoll::retrieve
