// Fields that only Anthropic's servers know, in a chat that was made of a request to its API.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::anthropic {

// The chat without cache_control, thinking and what belongs to them; as it is where it has none of them or is
// not JSON.
std::string without_chat_fields(std::string_view chat);

}  // namespace plimsoll::anthropic
