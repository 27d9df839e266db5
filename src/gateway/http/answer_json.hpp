// Parses a chat's answer, or an event of one, from an untrusted source.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/json/parse_json.hpp"

namespace plimsoll::gateway {

// Null: not JSON.
inline nlohmann::ordered_json parsed(std::string_view text) {
  using nlohmann::ordered_json;
  return base::check_json_shape(text, "the answer") ? base::parse_json(text) : ordered_json();
}

}  // namespace plimsoll::gateway
