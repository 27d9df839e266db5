// Reads untrusted JSON without assumptions about its shape.
#pragma once

#include <string>

namespace plimsoll::base {

// Null: no such member, or `object` is not an object. For any of nlohmann's JSON types.
template <typename Json>
const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// Empty if the member is not a string.
template <typename Json>
std::string text_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.template get<std::string>() : std::string();
}

// Returns the value if it is a list, else an empty list.
template <typename Json>
const Json& list_in(const Json& value) {
  static const Json none = Json::array();
  return value.is_array() ? value : none;
}

}  // namespace plimsoll::base
