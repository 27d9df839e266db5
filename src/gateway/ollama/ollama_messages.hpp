// Translates Ollama's messages to OpenAI's format. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// Images become data URLs, call arguments become text, and results are matched to their calls by ids, which
// Ollama's messages may lack. `with_thoughts`: keep `thinking`; otherwise a note is added.
Result<nlohmann::ordered_json> openai_messages(const nlohmann::ordered_json& messages, bool with_thoughts,
                                               std::vector<std::string>& notes);

// Returns the content of one message: a string, or parts if there are images. `where` is used in errors.
Result<nlohmann::ordered_json> openai_content(const std::string& text, const nlohmann::ordered_json& images,
                                              std::string_view where);

}  // namespace plimsoll::gateway
