#include "count/bpe.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/sanitized.hpp"
#include "count/plain.hpp"
#include "count/vocabulary/compile.hpp"

namespace plimsoll::count {
namespace {

// A vocabulary trained like real ones: repeatedly merges the most frequent pair of a sample.
Definition trained(std::mt19937& rng, std::size_t merges, unsigned letters, bool by_rank) {
  Definition definition;
  definition.info.name = "trained";
  definition.by_rank = by_rank;
  definition.whole_piece_first = by_rank;
  for (int byte = 0; byte < 256; ++byte)
    definition.tokens.push_back({std::string(1, static_cast<char>(byte)), static_cast<TokenId>(byte), 0});
  std::vector<std::uint32_t> sample;
  for (int i = 0; i < 3000; ++i)
    sample.push_back(static_cast<std::uint32_t>('a' + std::min(rng() % letters, rng() % letters)));
  std::set<std::string> known;
  while (definition.tokens.size() < 256 + merges) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> counts;
    for (std::size_t i = 0; i + 1 < sample.size(); ++i) {
      if (!known.contains(definition.tokens[sample[i]].bytes + definition.tokens[sample[i + 1]].bytes))
        ++counts[{sample[i], sample[i + 1]}];
    }
    if (counts.empty()) break;
    const auto best = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    const auto [left, right] = best->first;
    const std::string text = definition.tokens[left].bytes + definition.tokens[right].bytes;
    known.insert(text);
    const auto made = static_cast<std::uint32_t>(definition.tokens.size());
    definition.tokens.push_back({text, made, 0});
    if (!by_rank) definition.merges.emplace_back(left, right);
    std::vector<std::uint32_t> merged;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const bool here = i + 1 < sample.size() && sample[i] == left && sample[i + 1] == right;
      merged.push_back(here ? made : sample[i]);
      i += here ? 1 : 0;
    }
    sample = std::move(merged);
  }
  return definition;
}

std::string random_text(std::mt19937& rng, unsigned letters, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    std::string part(1 + rng() % 4, '\0');
    for (char& c : part) c = static_cast<char>('a' + rng() % letters);
    for (auto times = rng() % 5 == 0 ? 1 + rng() % 12 : 1; times > 0; --times) text += part;
  }
  return text.substr(0, size);
}

TEST(Bpe, BacktrackingEqualsMerging) {
  std::mt19937 rng{21};
  int regular = 0;
  std::size_t tokens = 0;
  for (int vocabulary = 0; vocabulary < 60; ++vocabulary) {
    const auto letters = static_cast<unsigned>(1 + rng() % 6);
    const Definition definition = trained(rng, 20 + rng() % 200, letters, vocabulary % 2 == 0);
    const auto file = compile(definition);
    ASSERT_TRUE(file.has_value()) << file.error().what;
    const Compiled compiled = *view_compiled(*file);
    regular += compiled.config.regular ? 1 : 0;
    const PlainMerger merger(definition);
    const Bpe bpe(compiled);
    Bpe::Scratch scratch;
    std::vector<std::uint32_t> prefixes;
    for (int round = 0; round < base::cases(150); ++round) {
      const std::string text = random_text(rng, letters, 1 + rng() % 150);
      const auto expected = merger.merge(text);
      if (!(definition.whole_piece_first && bpe.whole(text) != no_token)) {
        bpe.encode(text, scratch);
        std::vector<std::uint32_t> found;
        for (const std::uint32_t number : scratch.tokens) found.push_back(compiled.ids[number]);
        ASSERT_EQ(expected, found) << text;
        tokens += found.size();
      }
      bpe.prefix_counts(text, scratch, prefixes);
      for (std::size_t i = 1; i <= text.size(); i += 19) {
        const bool whole = definition.whole_piece_first && bpe.whole(text.substr(0, i)) != no_token;
        ASSERT_EQ(prefixes[i], whole ? 1 : merger.merge(std::string_view(text).substr(0, i)).size())
            << text.substr(0, i);
      }
    }
  }
  EXPECT_GT(regular, 50);
  EXPECT_GT(tokens, base::sanitized ? 5'000u : 50'000u);
}

TEST(Bpe, AVocabularyThatContradictsItselfIsMergedByHeap) {
  // "bc" may merge only after "abc" could: a token earlier than one of its halves.
  Definition definition;
  definition.info.name = "odd";
  definition.by_rank = true;
  TokenId id = 0;
  for (const char* text : {"a", "b", "c", "abc", "bc", "cb", "bcb"})
    definition.tokens.push_back({text, id++, 0});
  const auto file = compile(definition);
  ASSERT_TRUE(file.has_value());
  const Compiled compiled = *view_compiled(*file);
  const PlainMerger merger(definition);
  const Bpe bpe(compiled);
  Bpe::Scratch scratch;
  std::mt19937 rng{3};
  for (int round = 0; round < 2'000; ++round) {
    const std::string text = random_text(rng, 3, 1 + rng() % 30);
    bpe.encode(text, scratch);
    std::vector<std::uint32_t> found;
    for (const std::uint32_t number : scratch.tokens) found.push_back(compiled.ids[number]);
    ASSERT_EQ(merger.merge(text), found) << text;
  }
}

}  // namespace
}  // namespace plimsoll::count
