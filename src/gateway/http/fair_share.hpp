// How much of something that all keys share one of them may have.
#pragma once

#include <cstddef>
#include <string_view>

namespace plimsoll::gateway {

inline constexpr std::string_view owner_without_keys = "local";  // as engine::Caller has it

// Whether a key that has `own` of the `taken` places may have `more`. It may have at most as many as are left
// free: alone it fills half of them, and there is a place left for the next key, and for the one after that.
inline bool key_may_have(std::size_t own, std::size_t taken, std::size_t more, std::size_t limit) {
  const std::size_t free = limit > taken ? limit - taken : 0;
  return own + more <= free;
}

// The same for any owner. Without keys there is one owner, who may have all.
inline bool may_have(std::string_view owner, std::size_t own, std::size_t taken, std::size_t more,
                     std::size_t limit) {
  const bool is_alone = owner.empty() || owner == owner_without_keys;
  return key_may_have(is_alone ? 0 : own, taken, more, limit);
}

}  // namespace plimsoll::gateway
