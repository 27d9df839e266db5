#include "gateway/chat/extraction.hpp"

#include <random>

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

TEST(Extraction, ReadsAListWithOrWithoutWordsAroundIt) {
  for (const char* answer :
       {R"(["Ann sails", {"text": "Bob rows", "importance": 2}])",
        "Here it is:\n```json\n[\"Ann sails\", {\"text\": \"Bob rows\", \"importance\": 2}, 5, {}]\n```"}) {
    const auto facts = read_facts(answer);
    ASSERT_EQ(facts.size(), 2U) << answer;
    EXPECT_EQ(facts[0].text, "Ann sails");
    EXPECT_FALSE(facts[0].importance);
    EXPECT_EQ(facts[0].source, "model");
    EXPECT_EQ(facts[1].text, "Bob rows");
    EXPECT_EQ(facts[1].importance, 1.0);
    EXPECT_LT(*facts[1].trust, 0.5);
  }
}

TEST(Extraction, WhatIsNoListIsNoFact) {
  for (const char* answer :
       {"", "[]", "none", "[", "]", "][", "{\"text\": \"x\"}", "[unquoted]", "[[[[", "[1, null]"})
    EXPECT_TRUE(read_facts(answer).empty()) << answer;
  EXPECT_TRUE(read_facts(std::string(5'000, '[') + std::string(5'000, ']')).empty());
  std::string many = "[";
  for (int i = 0; i < 100; ++i) many += std::string(i == 0 ? "" : ",") + "\"fact\"";
  EXPECT_EQ(read_facts(many + "]").size(), 10U);
}

TEST(Extraction, AnyBytesMayCome) {
  std::mt19937 random{5};
  constexpr std::string_view letters = "[]{}\",:\\ntextimportance0.1 \xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string answer = "[";
    for (std::size_t i = random() % 40; i > 0; --i) answer += letters[random() % letters.size()];
    EXPECT_LE(read_facts(answer + "]").size(), 10U);
  }
}

}  // namespace
}  // namespace plimsoll::gateway
