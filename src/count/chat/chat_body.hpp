// count_chat for a parsed request.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/chat.hpp"

namespace plimsoll::count {

// `body`: an object with messages, or only their array, nested no deeper than parse_request allows.
Result<ChatCount> count_chat_body(const Tokenizer& tokenizer, const nlohmann::ordered_json& body,
                                  const ChatOptions& options);

}  // namespace plimsoll::count
