// JSON of others, read without trust in its shape.
#pragma once

namespace plimsoll::base {

// Null where there is no such member, or `object` is no object. Of nlohmann's kinds any.
template <typename Json>
const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

}  // namespace plimsoll::base
