// count_chat for whoever has parsed the request already.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/chat.hpp"

namespace plimsoll::count {

// `body`: an object with messages, or their array alone, nested no deeper than parse_request allows.
Result<ChatCount> count_chat_body(const Tokenizer& tokenizer, const nlohmann::ordered_json& body,
                                  const ChatOptions& options);

}  // namespace plimsoll::count
