// JSON of others, read without trust in its shape.
#pragma once

#include <string>

namespace plimsoll::base {

// Null where there is no such member, or `object` is no object. Of nlohmann's kinds any.
template <typename Json>
const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// Empty where the member is no text.
template <typename Json>
std::string text_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.template get<std::string>() : std::string();
}

// The value where it is a list, else an empty one.
template <typename Json>
const Json& list_in(const Json& value) {
  static const Json none = Json::array();
  return value.is_array() ? value : none;
}

}  // namespace plimsoll::base
