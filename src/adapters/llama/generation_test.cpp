#include "adapters/llama/generation.hpp"

#include <gtest/gtest.h>

#include "adapters/llama/grammar.hpp"

namespace plimsoll::llama {
namespace {

Result<ReadGeneration> read(const char* body, bool refuse = true) {
  return read_generation(nlohmann::ordered_json::parse(body), refuse);
}

std::string why(const char* body) {
  const auto answer = read(body);
  return answer ? std::string("taken") : answer.error().what;
}

TEST(ReadGeneration, TakesWhatAClientAsksFor) {
  const auto asked = read(R"({"temperature":0,"top_p":0.5,"seed":7,"max_tokens":9,"stop":["\n","END"],
                              "stream_options":{"include_usage":true}})");
  ASSERT_TRUE(asked) << asked.error().what;
  EXPECT_EQ(asked->generation.most, 9);
  EXPECT_EQ(asked->generation.sampling.temperature, 0);
  EXPECT_EQ(asked->generation.sampling.top_p, 0.5F);
  EXPECT_EQ(asked->generation.sampling.seed, 7U);
  EXPECT_EQ(asked->generation.stop, (std::vector<std::string>{"\n", "END"}));
  EXPECT_TRUE(asked->include_usage);
}

TEST(ReadGeneration, SaysWhichFieldIsWrong) {
  EXPECT_EQ(why(R"({"temperature":3})"), "temperature must be a number from 0 to 2");
  EXPECT_EQ(why(R"({"max_tokens":0})"), "max_tokens must be a whole number above 0");
  EXPECT_EQ(why(R"({"stop":[1]})"), "stop must hold texts of 256 bytes at most");
  EXPECT_EQ(why(R"({"seed":"x"})"), "seed must be a whole number");
  EXPECT_EQ(why(R"({"response_format":{"type":"xml"}})"),
            "response_format must have the type text, json_object, or json_schema with a schema");
}

TEST(ReadGeneration, RefusesOrLeavesOutWhatTheModelCannotDo) {
  const char* body = R"({"tools":[{"type":"function"}],"n":2,"logprobs":true})";
  EXPECT_NE(why(body).find("tools, logprobs, n"), std::string::npos) << why(body);
  const auto asked = read(body, /*refuse=*/false);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->left_out, (std::vector<std::string>{"tools", "logprobs", "n"}));
  EXPECT_TRUE(read(R"({"tools":[],"n":1,"logprobs":false,"logit_bias":{}})"));
}

TEST(Grammar, IsMadeOfASchemaAndRefusesWhatIsNone) {
  const auto grammar =
      grammar_of(R"({"type":"object","properties":{"ship":{"type":"string"}},"required":["ship"]})");
  ASSERT_TRUE(grammar) << grammar.error().what;
  EXPECT_NE(grammar->find("root ::="), std::string::npos);
  EXPECT_NE(grammar->find("ship"), std::string::npos);
  EXPECT_FALSE(grammar_of(R"({"$ref":"#/nowhere"})"));
  EXPECT_FALSE(grammar_of(R"({"type":"no such type"})"));
}

// Each would be followed to the end of the stack, or of everybody's patience.
TEST(Grammar, RefusesWhatGoesTooDeepOrTooFar) {
  const auto object = [](const std::string& name) {
    return R"({"type":"object","properties":{")" + name + R"(":{}},"additionalProperties":true})";
  };
  EXPECT_TRUE(grammar_of(object(std::string(100, 'a'))));
  EXPECT_FALSE(grammar_of(object(std::string(250, 'a'))));
  EXPECT_FALSE(grammar_of(object(std::string(60'000, 'a'))));
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a?";
  EXPECT_FALSE(grammar_of(R"({"type":"string","pattern":"^)" + pattern + R"($"})"));
  EXPECT_TRUE(grammar_of(R"({"type":"string","pattern":"^[a-z]{3}-?[0-9]+$"})"));
  EXPECT_FALSE(grammar_of(R"({"type":"string","maxLength":100000})"));
  EXPECT_FALSE(grammar_of(R"({"enum":[")" + std::string(300, 'x') + R"("]})"));
}

}  // namespace
}  // namespace plimsoll::llama
