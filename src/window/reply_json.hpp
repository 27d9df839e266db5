// Reads replies of servers: checks types and ranges, and reports errors with the actual
// value.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::window {

using Json = nlohmann::json;

constexpr std::size_t most_models = 10'000;  // of one list; the rest is ignored

// Parses an object; upstream_failed: the error says what it is instead: "HTML", "nothing", "JSON cut off or
// malformed".
Result<Json> parse_reply(std::string_view reply);

// Returns the value for error messages: short, on one line, without control characters.
std::string shown(const Json& value);

// Returns the member; null if there is none or it is not an object.
const Json& member(const Json& object, std::string_view key);

// Returns 0 if it is absent or null. If it is not a whole number from 1 to the largest window, returns
// 0 and sets `problem`, unless it is already set.
Tokens tokens_in(const Json& object, std::string_view key, std::string& problem);

// Reads a number from text, such as Ollama's parameters.
Tokens tokens_from_text(std::string_view text, std::string_view key, std::string& problem);

// Empty if it is not a string or too long.
std::string text_in(const Json& object, std::string_view key);

// 3212749888 -> "3.2B"; empty if it is not a count.
std::string parameters_of(const Json& count);

}  // namespace plimsoll::window
