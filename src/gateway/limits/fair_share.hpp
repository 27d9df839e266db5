// How much of a shared resource one key may use.
#pragma once

#include <cstddef>
#include <string_view>

namespace plimsoll::gateway {

inline constexpr std::string_view owner_without_keys = "local";  // as in engine::Caller

// Returns whether a key that holds `own` of the `taken` places may get `more`. It may hold at most as many as
// remain free: a single key fills half of them, and there is always a place for the next key.
inline bool key_may_have(std::size_t own, std::size_t taken, std::size_t more, std::size_t limit) {
  const std::size_t free = limit > taken ? limit - taken : 0;
  return own + more <= free;
}

// The same for any owner. Without keys there is one owner, who may use everything.
inline bool may_have(std::string_view owner, std::size_t own, std::size_t taken, std::size_t more,
                     std::size_t limit) {
  const bool is_alone = owner.empty() || owner == owner_without_keys;
  return key_may_have(is_alone ? 0 : own, taken, more, limit);
}

}  // namespace plimsoll::gateway
