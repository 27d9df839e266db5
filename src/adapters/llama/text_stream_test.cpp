#include "adapters/llama/text_stream.hpp"

#include <random>

#include <gtest/gtest.h>

namespace plimsoll::llama {
namespace {

std::string streamed(const std::vector<std::string>& pieces, std::vector<std::string> stops) {
  TextStream stream(std::move(stops));
  std::string told;
  for (const std::string& piece : pieces) told += stream.add(piece);
  return stream.stopped() ? told : told + stream.rest();
}

TEST(TextStream, TellsCharactersWholeHoweverTheirBytesCome) {
  TextStream stream({});
  EXPECT_EQ(stream.add("a\xE2"), "a");
  EXPECT_EQ(stream.add("\x82"), "");
  EXPECT_EQ(stream.add("\xAC!"), "\xE2\x82\xAC!");
  EXPECT_EQ(stream.add("\xF0\x9F"), "");
  EXPECT_EQ(stream.rest(), "\xEF\xBF\xBD");
}

TEST(TextStream, EndsBeforeTheFirstStopWordAlsoWhenItComesInParts) {
  EXPECT_EQ(streamed({"Yes", ", EN", "D of it"}, {"END"}), "Yes, ");
  EXPECT_EQ(streamed({"a\nUs", "er: b"}, {"\nUser:", "\nSystem:"}), "a");
  EXPECT_EQ(streamed({"EN", "EN", "END"}, {"END"}), "ENEN");
  EXPECT_EQ(streamed({"no stop in E", "N"}, {"END"}), "no stop in EN");
}

// The slow and obvious way: letter by letter, until what is there ends in a stop word.
std::string cut_by_hand(const std::string& whole, const std::vector<std::string>& stops) {
  for (std::size_t length = 1; length <= whole.size(); ++length) {
    std::size_t longest = 0;
    for (const std::string& stop : stops)
      if (std::string_view(whole).substr(0, length).ends_with(stop)) longest = std::max(longest, stop.size());
    if (longest > 0) return whole.substr(0, length - longest);
  }
  return whole;
}

TEST(TextStream, TellsTheSameForEveryWayToCutATextIntoPieces) {
  std::mt19937 random{7};
  const std::string letters = "abE\n";
  int stopped = 0;
  for (int round = 0; round < 5'000; ++round) {
    const auto word = [&](std::size_t most) {
      std::string text;
      for (std::size_t left = random() % most + 1; left > 0; --left)
        text += letters[random() % letters.size()];
      return text;
    };
    std::vector<std::string> pieces, stops{word(4), word(3)};
    std::string whole;
    for (int i = 0; i < 6; ++i) whole += pieces.emplace_back(word(4));
    const std::string cut = cut_by_hand(whole, stops);
    stopped += cut != whole ? 1 : 0;
    ASSERT_EQ(streamed(pieces, stops), cut) << whole;
  }
  EXPECT_GT(stopped, 1'000);
  EXPECT_LT(stopped, 5'000);
}

}  // namespace
}  // namespace plimsoll::llama
