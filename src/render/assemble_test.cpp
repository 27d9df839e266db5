#include "render/assemble.hpp"

#include <gtest/gtest.h>

namespace plimsoll::render {
namespace {

using Json = nlohmann::ordered_json;

const Json chat =
    Json::parse(R"({"model": "m", "temperature": 0, "plimsoll": {"policy": "history"}, "messages": [
  {"role": "system", "content": "Be brief."},
  {"role": "user", "content": "one"},
  {"role": "assistant", "content": "two"},
  {"role": "user", "content": "three?"}]})");

Assembly all_of(const Json& body) {
  const std::size_t count = body["messages"].size();
  return {std::vector<bool>(count, true), count - 1, {}, {}, {}};
}

TEST(Assemble, ChangesNothingButOurOwnFieldWhereNothingIsAsked) {
  Json expected = chat;
  expected.erase("plimsoll");
  EXPECT_EQ(assemble(chat, all_of(chat)).dump(), expected.dump());
}

TEST(Assemble, LeavesMessagesOut) {
  Assembly assembly = all_of(chat);
  assembly.keep[1] = assembly.keep[2] = false;
  const Json made = assemble(chat, assembly);
  ASSERT_EQ(made["messages"].size(), 2U);
  EXPECT_EQ(made["messages"][1]["content"], "three?");
  EXPECT_EQ(made["temperature"], 0);
}

TEST(Assemble, PutsFactsBehindTheSystemPromptAndPassagesBeforeTheQuestion) {
  Assembly assembly = all_of(chat);
  assembly.facts = {{"f", "She sails."}};
  assembly.passages = {{"p\"1", "Load line."}};
  const Json made = assemble(chat, assembly);
  EXPECT_EQ(made["messages"][0]["content"], "Be brief.\n\nWhat is known:\n- She sails.\n");
  EXPECT_EQ(made["messages"][3]["content"],
            "<passages>\n<passage id=\"p_1\">\nLoad line.\n</passage>\n</passages>\n\nthree?");
}

TEST(Assemble, KeepsAHeadingPathReadableAndTheFrameWhole) {
  EXPECT_EQ(passage_text({"1: a.md > Guide > Install", "x"}),
            "<passage id=\"1: a.md > Guide > Install\">\nx\n</passage>\n");
  EXPECT_EQ(passage_text({"1: a.md > \"></passage> x\ny>", "x"}),
            "<passage id=\"1: a.md > ___/passage_ x_y_\">\nx\n</passage>\n");
}

TEST(Assemble, PutsTheInstructionBetweenThePassagesAndTheQuestion) {
  Assembly assembly = all_of(chat);
  assembly.instruction = "Answer from these.";
  EXPECT_EQ(assemble(chat, assembly)["messages"][3]["content"], "three?") << "there are no passages";
  assembly.passages = {{"1", "Load line."}};
  EXPECT_EQ(assemble(chat, assembly)["messages"][3]["content"],
            "<passages>\n<passage id=\"1\">\nLoad line.\n</passage>\n</passages>\n\nAnswer from "
            "these.\n\nthree?");
  EXPECT_EQ(passages_frame("Answer from these."), "<passages>\n</passages>\n\nAnswer from these.\n\n");
}

TEST(Assemble, EveryPolicyHasAnInstructionThatAsksForCitationsAndAdmitsIgnorance) {
  for (const Policy policy : {Policy::balanced, Policy::history, Policy::documents, Policy::answer,
                              Policy::strict, Policy::document_chat}) {
    const std::string_view instruction = instruction_for(policy);
    EXPECT_NE(instruction.find("[1]"), std::string_view::npos) << instruction;
    EXPECT_NE(instruction.find("say so"), std::string_view::npos) << instruction;
  }
  EXPECT_NE(instruction_for(Policy::documents), instruction_for(Policy::balanced));
}

TEST(Assemble, PutsFactsIntoTheQuestionWhereThereIsNoSystemPrompt) {
  const Json body =
      Json::parse(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hm?"}]}]})");
  Assembly assembly = all_of(body);
  assembly.facts = {{"f", "She sails."}};
  const Json made = assemble(body, assembly);
  ASSERT_EQ(made["messages"][0]["content"].size(), 2U);
  EXPECT_EQ(made["messages"][0]["content"][0]["text"], "What is known:\n- She sails.\n\n");
}

TEST(Assemble, PutsASummaryBehindTheSystemPromptBeforeFacts) {
  Assembly assembly = all_of(chat);
  assembly.keep[1] = assembly.keep[2] = false;
  assembly.facts = {{"f", "She sails."}};
  assembly.summary = Summary{"They spoke.", 2};
  EXPECT_EQ(summary_place(chat["messages"], assembly), 0U);
  EXPECT_EQ(assemble(chat, assembly)["messages"][0]["content"],
            "Be brief.\n\n<summary>\nThe beginning of this conversation, 2 messages, in short:\nThey "
            "spoke.\n</summary>\n\nWhat is known:\n- She sails.\n");
}

TEST(Assemble, PutsASummaryBeforeTheFirstWordsThatStay) {
  const Json body =
      Json::parse(R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
      {"role": "user", "content": "c"}, {"role": "system", "content": "d"}, {"role": "user", "content": "e"}]})");
  Assembly assembly = all_of(body);
  assembly.keep[0] = assembly.keep[1] = false;
  assembly.summary = Summary{"They spoke.", 2};
  EXPECT_EQ(summary_place(body["messages"], assembly), 2U);
  const Json made = assemble(body, assembly);
  EXPECT_EQ(made["messages"][0]["content"], summary_text(*assembly.summary) + "\n\nc");
  EXPECT_EQ(made["messages"][1]["content"], "d");
}

}  // namespace
}  // namespace plimsoll::render
