#include "base/random.hpp"

#include <set>

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

TEST(RandomText, HasSixBitsInACharacter) {
  EXPECT_EQ(random_text(0), "");
  EXPECT_EQ(random_text(1).size(), 2U);
  EXPECT_EQ(random_text(3).size(), 4U);
  EXPECT_EQ(random_text(32).size(), 43U);
}

TEST(RandomText, UsesAllCharactersAndRepeatsNothing) {
  std::set<char> seen;
  std::set<std::string> texts;
  for (int i = 0; i < 1'000; ++i) {
    const std::string text = random_text(32);
    seen.insert(text.begin(), text.end());
    texts.insert(text);
  }
  EXPECT_EQ(seen.size(), 64U);
  EXPECT_EQ(texts.size(), 1'000U);
}

}  // namespace
}  // namespace plimsoll::base
