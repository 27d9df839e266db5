// A request to Anthropic's Messages API as the chat that it stands for.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// bad_input, unsupported: what is wrong, by its place in the request. `limited`: max_tokens must be there.
Result<nlohmann::ordered_json> chat_of_messages(const nlohmann::ordered_json& request, bool limited);

}  // namespace plimsoll::gateway
