// Careful reading of what servers reply: types and ranges are checked, and what is wrong is said with what
// stood there.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::window {

using Json = nlohmann::json;

// An object, or upstream_failed saying what came instead: "HTML", "nothing", "JSON cut off or malformed".
Result<Json> parse_reply(std::string_view reply);

// The value as messages show it: short, on one line, without control characters.
std::string shown(const Json& value);

// The member, or null where the object has none or is no object.
const Json& member(const Json& object, std::string_view key);

// 0 where it is absent or null. Where it is anything else but a whole number from 1 to the largest window,
// 0, and `problem` gets the reason, unless an earlier one stands there.
Tokens tokens_in(const Json& object, std::string_view key, std::string& problem);

// A figure that is written in text, as Ollama's parameters are.
Tokens tokens_from_text(std::string_view text, std::string_view key, std::string& problem);

// Empty where it is no text, or longer than anybody would want to read.
std::string text_in(const Json& object, std::string_view key);

// 3212749888 -> "3.2B"; empty for what is no count.
std::string parameters_of(const Json& count);

}  // namespace plimsoll::window
