#include "engine/evidence/follow_up.hpp"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

FollowUp before(const char* request) {
  const auto parts = chat::read_chat(request);
  EXPECT_TRUE(parts.has_value());
  return parts ? earlier_words(*parts) : FollowUp{};
}

TEST(FollowUp, NamesAreCodeIdentifiersAndCapitalisedWords) {
  EXPECT_EQ(
      names_in("Run `npm prune --production`. It removes packages that Node.js knows from package_lock, "
               "and CORSMiddleware is kept by Alice.",
               12),
      (std::vector<std::string>{"npm prune --production", "Node.js", "package_lock", "CORSMiddleware",
                                "Alice"}));
  EXPECT_EQ(names_in("One. Two three.", 12), std::vector<std::string>{});
  EXPECT_EQ(names_in("a_b c_d e_f", 2).size(), 2U);
}

TEST(FollowUp, TheEarlierQuestionAndTheNamesOfTheAnswerAreTheContext) {
  const FollowUp found = before(R"({"messages": [
    {"role": "user", "content": "Which command removes extraneous packages?"},
    {"role": "assistant", "content": "Use `npm prune` for that."},
    {"role": "user", "content": "Give me an example"}]})");
  EXPECT_EQ(found.weight, 1);
  EXPECT_EQ(found.context, "Which command removes extraneous packages? npm prune");
}

TEST(FollowUp, WhatAModelMadeOfTheQuestionCountsNearlyAsMuch) {
  const auto parts = chat::read_chat(R"({"messages": [
    {"role": "user", "content": "What does npm prune do?"}, {"role": "assistant", "content": "it removes"},
    {"role": "user", "content": "How long does it take?"}]})");
  ASSERT_TRUE(parts);
  const float alone = earlier_words(*parts).weight;
  const FollowUp found = earlier_words(*parts, "How long does npm prune take?");
  EXPECT_GT(found.weight, alone);
  EXPECT_LT(found.weight, 1);
  EXPECT_EQ(found.context, "What does npm prune do? How long does npm prune take?");
}

TEST(FollowUp, GoesBackToTheQuestionThatNamesItsSubject) {
  const FollowUp found = before(R"({"messages": [
    {"role": "user", "content": "Who painted the harbour at Odessa?"},
    {"role": "assistant", "content": "nobody knows"},
    {"role": "user", "content": "What does npm prune do?"},
    {"role": "assistant", "content": "it removes packages"},
    {"role": "user", "content": "Give me an example"},
    {"role": "assistant", "content": "there is none"},
    {"role": "user", "content": "Why?"}]})");
  EXPECT_EQ(found.context, "What does npm prune do? Give me an example");
}

TEST(FollowUp, TheNewestQuestionStaysIfThereIsMoreThanFits) {
  const std::string request = R"({"messages": [
    {"role": "user", "content": "How is the ferry moored?"},
    {"role": "assistant", "content": "with ropes"},
    {"role": "user", "content": "And it? )" +
                              std::string(3'000, 'x') + R"("},
    {"role": "assistant", "content": "with chains"},
    {"role": "user", "content": "And its anchor?"},
    {"role": "assistant", "content": "of iron"},
    {"role": "user", "content": "Why?"}]})";
  const FollowUp found = before(request.c_str());
  EXPECT_TRUE(found.context.ends_with("And its anchor?")) << found.context.substr(found.context.size() - 40);
  EXPECT_EQ(found.context.find("ferry"), std::string::npos);
  EXPECT_LE(found.context.size(), 2'001U);
}

TEST(FollowUp, WithoutEarlierTurnsThereIsNoContext) {
  const FollowUp found = before(R"({"messages": [{"role": "user", "content": "Give me an example"}]})");
  EXPECT_EQ(found.weight, 0);
  EXPECT_EQ(found.context, "");
}

}  // namespace
}  // namespace plimsoll::engine
