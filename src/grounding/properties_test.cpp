#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "plimsoll/grounding.hpp"

namespace plimsoll {
namespace {

constexpr std::string_view subjects[] = {"The captain", "Governor Rector", "Anna Larsen",
                                         "The northern depot", "Engine X86"};
constexpr std::string_view verbs[] = {"ordered", "repaired", "inspected", "measured", "replaced"};
constexpr std::string_view objects[] = {"lanterns", "boilers", "windows", "passages", "tokens"};
constexpr std::string_view places[] = {"in Bergen", "near the harbour", "after dinner", "for Samuel Brown",
                                       "by hand"};

template <std::size_t size>
std::string_view any_of(const std::string_view (&list)[size], std::mt19937& random) {
  return list[random() % size];
}

struct Said {
  std::string before, after;
  int number = 0;
  std::string text(int other) const { return fmt::format("{} {} {}", before, other, after); }
};

Said random_sentence(std::mt19937& random) {
  Said said;
  said.number = static_cast<int>(13 + random() % 2'000);
  said.before = fmt::format("{} {}{}", any_of(subjects, random), random() % 4 == 0 ? "never " : "",
                            any_of(verbs, random));
  said.after = fmt::format("{} {}.", any_of(objects, random), any_of(places, random));
  return said;
}

TEST(Grounding, WhatIsCopiedIsSupportedAndAChangedNumberIsNot) {
  std::mt19937 random(7);
  int changed = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Said> said;
    std::vector<std::string> texts(1 + random() % 3);
    for (std::string& text : texts)
      for (std::size_t i = 1 + random() % 4; i > 0; --i) {
        said.push_back(random_sentence(random));
        text += said.back().text(said.back().number) + (random() % 2 == 0 ? " " : "\n");
      }
    std::vector<GivenPassage> passages;
    for (const std::string& text : texts) passages.push_back({text});
    const Said& one = said[random() % said.size()];
    const CheckedAnswer copied = check_answer(one.text(one.number), passages);
    ASSERT_EQ(copied.sentences.size(), 1U);
    EXPECT_EQ(copied.sentences[0].verdict, Verdict::supported)
        << one.text(one.number) << copied.sentences[0].reason;
    const int other = 3'000 + static_cast<int>(random() % 1'000);
    const CheckedAnswer wrong = check_answer(one.text(other), passages);
    EXPECT_EQ(wrong.sentences[0].verdict, Verdict::unsupported) << one.text(other);
    // A number of another sentence, in the place of its own.
    const Said& two = said[random() % said.size()];
    const bool is_said = std::ranges::any_of(said, [&](const Said& any) {
      return any.before == one.before && any.after == one.after && any.number == two.number;
    });
    if (is_said) continue;
    ++changed;
    EXPECT_EQ(check_answer(one.text(two.number), passages).sentences[0].verdict, Verdict::unsupported)
        << one.text(two.number) << "\n"
        << fmt::format("{}", fmt::join(texts, " // "));
  }
  EXPECT_GT(changed, 500);
}

TEST(Grounding, EveryPassageSupportsItself) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 6; i > 0; --i) {
      const Said said = random_sentence(random);
      text += said.text(said.number) + " ";
    }
    const GivenPassage passages[] = {{"Nothing of it is here."}, {text}};
    const CheckedAnswer checked = check_answer(text, passages);
    EXPECT_EQ(checked.unsupported, 0U) << text;
    for (const CheckedSentence& one : checked.sentences) EXPECT_EQ(one.passages, std::vector<std::size_t>{1});
  }
}

}  // namespace
}  // namespace plimsoll
