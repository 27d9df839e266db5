// Tokens of OpenAI's chat format. The format is not public, but its rules are: the cookbook's for plain
// messages, and for tools a TypeScript format that was derived from reported usage.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "count/chat/chat_content.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::count {

struct OpenaiRule {
  Tokens per_message = 3;
  Tokens per_name = 1;
  Tokens reply = 3;  // every answer is primed with the assistant's header
};
inline constexpr OpenaiRule openai_rule{};
inline constexpr OpenaiRule openai_0301_rule{4, -1, 3};  // gpt-3.5-turbo-0301: a name replaces the role

struct OpenaiCount {
  Tokens format = 0;
  std::vector<Tokens> messages;
  std::vector<Tokens> frames;  // part of `format` for message i
  Tokens tools = 0;
  bool certain = true;  // false if it has tools or tool calls
};

OpenaiCount count_openai(const Tokenizer& tokenizer, const ChatContent& request, const OpenaiRule& rule);

// Returns the tools as the model sees them: "namespace functions {\n\n// ...\ntype get_weather = (_: {...})
// => any;\n\n} ..."
std::string openai_tools_text(const nlohmann::ordered_json& tools);

}  // namespace plimsoll::count
