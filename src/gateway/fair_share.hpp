// How much of something that all keys share one of them may have.
#pragma once

#include <cstddef>
#include <string>

namespace plimsoll::gateway {

// Whether an owner who has `own` of the `taken` places may have `more`. A key may have as many as are free
// besides: alone it fills half of them, and there is a place left for the next key, and for the one after
// that. Whoever has no name shares with nobody and may have all.
inline bool may_have(const std::string& owner, std::size_t own, std::size_t taken, std::size_t more,
                     std::size_t limit) {
  const std::size_t free = limit > taken ? limit - taken : 0;
  return (owner.empty() ? 0 : own) + more <= free;
}

}  // namespace plimsoll::gateway
