// What one answer is to be: the prompt as tokens, how to choose the next one, and when to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::llama {

struct Sampling {
  float temperature = 0.7F;  // 0: always the likeliest
  float top_p = 0.95F;
  std::int32_t top_k = 40;  // 0: all
  float min_p = 0;
  float repeat_penalty = 1;
  float frequency_penalty = 0;
  float presence_penalty = 0;
  std::optional<std::uint32_t> seed;  // none: another one each time
  std::string grammar;                // GBNF that the answer follows; empty: any text
};

struct Generation {
  std::vector<std::int32_t> prompt;
  std::string owner;  // whose words they are
  Tokens most = 0;    // that the answer may have
  Sampling sampling;
  std::vector<std::string> stop;  // the answer ends before the first of these
};

// Where nobody says how long an answer may be. A small model that found no end would go on to the window's.
constexpr Tokens usual_answer = 1'024;

struct ReadGeneration {
  Generation generation;  // without its prompt
  bool include_usage = false;
  std::vector<std::string> left_out;  // fields that say what this model cannot do: "tools", "logprobs"
};

// Of OpenAI's body of a chat or a completion, with llama.cpp's `top_k`, `min_p` and `repeat_penalty`.
// bad_input names the field; so does a field that cannot be done, where `refuse` is set.
Result<ReadGeneration> read_generation(const nlohmann::ordered_json& body, bool refuse);

}  // namespace plimsoll::llama
