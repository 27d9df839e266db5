// Messages as Ollama has them, in OpenAI's form. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// Images become data URLs, arguments of calls become text, and results are joined to their calls by ids,
// which Ollama's messages need not have. `with_thoughts`: whether `thinking` goes along; else it is noted.
Result<nlohmann::ordered_json> openai_messages(const nlohmann::ordered_json& messages, bool with_thoughts,
                                               std::vector<std::string>& notes);

// The content of one message: a text, or parts where there are images. `where` names them in errors.
Result<nlohmann::ordered_json> openai_content(const std::string& text, const nlohmann::ordered_json& images,
                                              std::string_view where);

}  // namespace plimsoll::gateway
