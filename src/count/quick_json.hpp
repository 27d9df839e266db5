// JSON of requests, many times faster than byte by byte: they are long texts with little structure.
#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace plimsoll::count {

// What nlohmann::ordered_json::parse would give. Nothing where the text is no JSON, or holds what is better
// left to the thorough parser, such as numbers beyond 64 bits: that one also says where it goes wrong. `text`
// has passed base::check_json_shape.
std::optional<nlohmann::ordered_json> parse_quickly(std::string_view text);

}  // namespace plimsoll::count
