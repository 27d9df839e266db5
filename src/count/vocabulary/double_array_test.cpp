#include "count/vocabulary/double_array.hpp"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace plimsoll::count {
namespace {

TEST(Trie, FindsWhatWasPutInAndNothingElse) {
  std::mt19937 rng{11};
  std::map<std::string, std::uint32_t> expected;
  const auto random_text = [&](unsigned letters) {
    std::string text(1 + rng() % 6, '\0');
    for (char& c : text) c = static_cast<char>(rng() % letters);
    return text;
  };
  for (std::uint32_t i = 0; i < 20'000; ++i) expected[random_text(i % 2 == 0 ? 256 : 5)] = i;
  std::vector<TrieEntry> entries;
  for (const auto& [text, value] : expected) entries.push_back({text, value});
  const auto nodes = build_trie(entries);
  const Trie trie(nodes);

  for (const auto& [text, value] : expected) ASSERT_EQ(trie.find(text), value);
  int absent = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string text = random_text(i % 2 == 0 ? 256 : 5);
    const auto found = expected.find(text);
    absent += found == expected.end();
    ASSERT_EQ(trie.find(text), found == expected.end() ? Trie::none : found->second);
  }
  EXPECT_GT(absent, 50'000);
}

TEST(Trie, OfNothingFindsNothing) {
  const auto nodes = build_trie({});
  const Trie trie(nodes);
  for (int c = 0; c < 256; ++c) EXPECT_EQ(trie.find(std::string(1, static_cast<char>(c))), Trie::none);
}

TEST(Trie, ALeafHasNoChildren) {
  const auto nodes = build_trie({{"a", 1}});
  const Trie trie(nodes);
  for (int c = 0; c < 256; ++c) EXPECT_EQ(trie.find(std::string{'a', static_cast<char>(c)}), Trie::none);
}

TEST(Trie, OfTwoEntriesWithTheSameTextTheLaterCounts) {
  const auto nodes = build_trie({{"ab", 1}, {"ab", 2}});
  EXPECT_EQ(Trie(nodes).find("ab"), 2u);
}

}  // namespace
}  // namespace plimsoll::count
