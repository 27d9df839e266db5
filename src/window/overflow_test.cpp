#include "window/overflow.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::window {
namespace {

using Json = nlohmann::json;

struct Case {
  std::string message;
  Tokens window;  // 0: not reported
  Tokens wanted;
};

const Case cases[] = {
    // OpenAI
    {"This model's maximum context length is 8192 tokens. However, your messages resulted in 10345 tokens. "
     "Please reduce the length of the messages.",
     8192, 10345},
    {"This model's maximum context length is 4097 tokens. However, you requested 5360 tokens (1360 in the "
     "messages, 4000 in the completion). Please reduce the length of the messages or completion.",
     4097, 5360},
    {"Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0},
    // OpenRouter
    {"This endpoint's maximum context length is 131,072 tokens. However, you requested about 140000 tokens "
     "(139000 of text input, 1000 in the output).",
     131072, 140000},
    // vLLM, by age
    {"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in "
     "the "
     "messages, 10000 in the completion). Please reduce the length of the messages or completion.",
     16384, 122946},
    {"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is "
     "4096 "
     "tokens and your request has 100 input tokens (5000 > 4096 - 100).",
     4096, 5100},
    {"The decoder prompt (length 5012) is longer than the maximum model length of 4096. Make sure that "
     "`max_model_len` is no smaller than the number of text tokens.",
     4096, 5012},
    {"The prompt (total length 9000) is too long to fit into the model (context length 8192).", 8192, 9000},
    {"This model's maximum context length is 8192 tokens. However, you requested 100 output tokens and your "
     "prompt contains at least 8093 input tokens, for a total of at least 8193 tokens.",
     8192, 8193},
    {"You passed 9000 input tokens and requested 1000 output tokens. However, the model's context length is "
     "only "
     "8192 tokens, resulting in a maximum input length of 7192 tokens.",
     8192, 10000},
    {"Input length (9000) exceeds model's maximum context length (8192).", 8192, 9000},
    // llama.cpp and its Python server
    {"the request exceeds the available context size. try increasing the context size or enable context "
     "shift",
     0, 0},
    {"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5000},
    {"Requested tokens (612) exceed context window of 512", 512, 612},
    // Ollama
    {"the input length exceeds the context length", 0, 0},
    {"input length exceeds maximum context length", 0, 0},
    // SGLang
    {"The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096, 5000},
    {"Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total "
     "of "
     "9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.",
     8192, 9000},
    // LiteLLM
    {"litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - This model's maximum "
     "context "
     "length is 8192 tokens. However, your messages resulted in 9001 tokens.",
     8192, 9001},
    {"litellm.ContextWindowExceededError: AnthropicError - prompt too large", 0, 0},
    // Anthropic
    {"prompt is too long: 208310 tokens > 200000 maximum", 200000, 208310},
    {"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or "
     "`max_tokens` and try again",
     200000, 210000},
    // TGI
    {"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` "
     "tokens and "
     "200 `max_new_tokens`",
     4096, 4200},
    {"Input validation error: `inputs` must have less than 1024 tokens. Given: 1500", 1024, 1500},
    // Gemini, Groq, Mistral, xAI, LM Studio, Bedrock
    {"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", 1048576,
     1200293},
    {"Please reduce the length of the messages or completion.", 0, 0},
    {"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
     32768, 40000},
    {"This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131072, 537812},
    {"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with "
     "context "
     "length of only 4096 tokens, which is not enough.",
     4096, 5000},
    {"Input is too long for requested model.", 0, 0},
};

void expect_case(const std::optional<Overflow>& overflow, const Case& expected) {
  ASSERT_TRUE(overflow) << expected.message;
  EXPECT_EQ(overflow->window.value_or(0), expected.window) << expected.message;
  EXPECT_EQ(overflow->wanted.value_or(0), expected.wanted) << expected.message;
  EXPECT_EQ(overflow->said.substr(0, 20), expected.message.substr(0, 20));
}

TEST(Overflow, IsKnownHoweverItIsWordedAndWrapped) {
  for (const Case& one : cases) {
    const Json error{{"message", one.message}, {"type", "BadRequestError"}, {"code", 400}};
    expect_case(read_overflow(Json{{"error", error}}.dump()), one);
    expect_case(read_overflow(error.dump()), one);                              // old vLLM
    expect_case(read_overflow(Json{{"error", one.message}}.dump()), one);       // Ollama, TGI
    expect_case(read_overflow(Json::array({{{"error", error}}}).dump()), one);  // Gemini
    expect_case(read_overflow(one.message), one);
    expect_case(read_overflow_event(Json{{"error", error}}.dump()), one);  // within a stream
    const Json failed{{"type", "response.failed"}, {"response", {{"error", error}}}};
    expect_case(read_overflow_event(failed.dump()), one);
  }
}

TEST(Overflow, IsKnownByItsCode) {
  const auto openai = read_overflow(
      R"({"error":{"message":"Too long.","type":"invalid_request_error","code":"context_length_exceeded"}})");
  ASSERT_TRUE(openai);
  EXPECT_EQ(openai->said, "Too long.");
  const auto llama =
      read_overflow(R"({"error":{"code":400,"message":"the request exceeds the available context size",)"
                    R"("type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}})");
  ASSERT_TRUE(llama);
  EXPECT_EQ(llama->window, 4096);
  EXPECT_EQ(llama->wanted, 5012);
}

TEST(Overflow, IsNotSeenWhereThereIsNone) {
  const std::string_view others[] = {
      "Rate limit reached for gpt-4 in organization org-x on tokens per min (TPM): Limit 10000, Used 9000, "
      "Requested 2000. Please reduce the length of the messages.",
      "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000, please "
      "reduce your message size and try again.",
      "You exceeded your current quota, please check your plan and billing details.",
      "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you "
      "provided 100000.",
      "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than "
      "the `context_window` for this model",
      "Invalid value for 'temperature': must be <= 2.",
      "max_tokens must be at least 1, got 0.",
      "Internal server error",
      "",
      "The server is overloaded"};
  for (const std::string_view message : others) {
    EXPECT_FALSE(read_overflow(Json{{"error", {{"message", message}}}}.dump())) << message;
    EXPECT_FALSE(read_overflow(message)) << message;
  }
}

TEST(Overflow, IsNotReadOutOfAnAnswer) {
  const std::string words = "This model's maximum context length is 8192 tokens.";
  const Json chunk{{"choices", {{{"delta", {{"content", words + " \"error\""}}}}}}};
  EXPECT_FALSE(read_overflow_event(chunk.dump()));
  EXPECT_FALSE(read_overflow_event(Json{{"error", nullptr}, {"message", words}}.dump()));
  EXPECT_FALSE(read_overflow_event("data: \"error\" " + words));
}

TEST(Overflow, TellsByWhichWordsItWasKnown) {
  const auto words = [](std::string_view body) { return read_overflow(body)->words; };
  using Words = std::vector<std::string>;
  const std::string far =
      R"({"error":{"message":")" + std::string(5'000, 'x') + R"( Maximum context length is 4,096 tokens."}})";
  EXPECT_EQ(words(far), Words{"context length is 4,096"});
  EXPECT_EQ(words(R"({"error":{"message":"Prompt is too long"}})"), Words{"prompt is too long"});
  EXPECT_EQ(words(R"({"error":{"message":"no","code":"context_length_exceeded"}})"), Words{});
}

TEST(Overflow, KeepsNumbersInBoundsAndWordsShort) {
  const auto huge = read_overflow("This model's maximum context length is 99999999999999999999999 tokens. " +
                                  std::string(5000, 'x'));
  ASSERT_TRUE(huge);
  EXPECT_FALSE(huge->window);
  EXPECT_LT(huge->said.size(), 500U);
  EXPECT_FALSE(read_overflow(std::string(200, '[')));
}

}  // namespace
}  // namespace plimsoll::window
