#include "chat/chat_request.hpp"

#include <gtest/gtest.h>

#include "chat/forwarded.hpp"
#include "chat/write_chat.hpp"

namespace plimsoll::chat {
namespace {

using Json = nlohmann::ordered_json;

std::string problem(std::string_view request) {
  const auto read = read_chat(request);
  return read ? std::string("none") : read.error().what;
}

TEST(ChatRequest, SaysWhoAnswersAndHow) {
  const auto read =
      read_chat(R"({"model": "m", "messages": [{"role": "user", "content": "A"}], "stream": true,
    "stream_options": {"include_usage": true}, "max_tokens": 9})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->model, "m");
  EXPECT_TRUE(read->streams && read->wants_usage);
  EXPECT_EQ(read->max_tokens, 9);
  EXPECT_FALSE(may_ask_for_usage(*read));
  const auto plain = read_chat(R"({"messages": [{"role": "user", "content": "A"}]})");
  ASSERT_TRUE(plain) << plain.error().what;
  EXPECT_EQ(plain->model, "");
  EXPECT_FALSE(plain->streams || plain->wants_usage);
}

TEST(ChatRequest, RefusesFieldsOfTheWrongType) {
  EXPECT_NE(problem(R"({"model": 7, "messages": [{"role": "user", "content": "A"}]})").find("model"),
            std::string::npos);
  EXPECT_NE(problem(R"({"messages": [{"role": "user", "content": "A"}], "stream": "yes"})").find("stream"),
            std::string::npos);
}

TEST(ChatRequest, IsPlainOnlyWithoutFieldsForTheGateway) {
  const auto plain = [](const char* field) {
    const std::string text =
        std::string(R"({"model": "m", "messages": [{"role": "user", "content": "A"}])") + field + "}";
    const auto read = read_chat(text);
    return read && is_plain(*read, "m");
  };
  EXPECT_TRUE(plain(R"(, "temperature": 1)"));
  EXPECT_FALSE(plain(R"(, "plimsoll": {})"));
  EXPECT_FALSE(plain(R"(, "context_token_ratio": 0.5)"));
  EXPECT_FALSE(
      is_plain(*read_chat(R"({"model": "m", "messages": [{"role": "user", "content": "A"}]})"), "n"));
}

TEST(ChatRequest, IsWrittenWithThePlansLimits) {
  Plan plan;
  plan.model = "n";
  plan.answer = 5;
  plan.thinking = 7;
  const Json body =
      Json::parse(R"({"model": "m", "messages": [], "max_completion_tokens": 90, "max_tokens": 80,
    "thinking": {"budget_tokens": 60}, "reasoning": {"effort": "low"}, "index_name": "x"})");
  EXPECT_EQ(Json::parse(bound_body(body, plan)),
            Json::parse(R"({"model": "n", "messages": [], "max_completion_tokens": 5,
    "thinking": {"budget_tokens": 7}, "reasoning": {"effort": "low"}})"));
  std::string text = R"( { "stream": true})";
  ask_for_usage(text);
  EXPECT_EQ(text, R"( {"stream_options":{"include_usage":true}, "stream": true})");
}

TEST(Forwarded, HasItsLimitAndItsAnswers) {
  const auto limit_of = [](RequestKind kind, const char* text) {
    return answer_limit(*read_forwarded(kind, text));
  };
  EXPECT_EQ(limit_of(RequestKind::completion, R"({"max_tokens": 12})")->wanted, 12);
  EXPECT_EQ(limit_of(RequestKind::response, R"({"max_output_tokens": 12, "max_tokens": 3})")->wanted, 12);
  EXPECT_EQ(limit_of(RequestKind::completion, "{}")->wanted, std::nullopt);
  EXPECT_TRUE(limit_of(RequestKind::completion, R"({"max_tokens": -1})")->is_unlimited);
  for (const char* wrong : {R"({"max_tokens": -2})", R"({"max_tokens": 1.5})", R"({"max_tokens": "9"})"})
    EXPECT_FALSE(limit_of(RequestKind::completion, wrong)) << wrong;
  EXPECT_EQ(limit_by_default(RequestKind::completion, 1'000), 16);
  EXPECT_EQ(limit_by_default(RequestKind::response, 1'000), 1'000);
  const auto several =
      read_forwarded(RequestKind::completion, R"({"prompt": ["a", "b"], "n": 3, "stream": true})");
  ASSERT_TRUE(several) << several.error().what;
  EXPECT_EQ(answers_wanted(*several), 6);
  EXPECT_TRUE(several->streams);
  EXPECT_FALSE(is_counted(*read_forwarded(RequestKind::embedding, R"({"input": "a"})")));
  EXPECT_FALSE(read_forwarded(RequestKind::completion, "[]"));
}

TEST(ReadForwarded, RefusesAnIndexForACompletion) {
  const auto asked =
      read_forwarded(RequestKind::completion, R"({"prompt": "Who keeps the log?", "index_name": "ship"})");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, Errc::bad_input);
  EXPECT_NE(asked.error().what.find("/v1/chat/completions"), std::string::npos);
  EXPECT_TRUE(read_forwarded(RequestKind::completion, R"({"prompt": "a", "index_name": ""})"));
}

}  // namespace
}  // namespace plimsoll::chat
