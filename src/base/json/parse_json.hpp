// The one reader of JSON. Uses simdjson, and nlohmann's parser for what that does not take.
#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace plimsoll::base {

// Returns the same as nlohmann::ordered_json::parse, and a discarded value for text that is not JSON. Text
// from outside passes check_json_shape first, which bounds its depth and the size of its objects.
nlohmann::ordered_json parse_json(std::string_view text);

// The fast part of it: many times faster for long texts with little structure. Returns nothing for text that
// is not JSON and for what only the other parser takes, such as numbers beyond 64 bits.
std::optional<nlohmann::ordered_json> parse_quickly(std::string_view text);

}  // namespace plimsoll::base
