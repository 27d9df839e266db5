// How much of a shared resource one key may use.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
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

// Places for work in the background, which owners share in this way. For any thread.
class Places {
 public:
  explicit Places(std::size_t all) : all_(all) {}

  // Returns false if the owner may have no more.
  bool take(std::string_view owner) {
    const std::lock_guard lock(mutex_);
    const auto own = owned_.find(owner);
    if (!may_have(owner, own == owned_.end() ? 0 : own->second, taken_, 1, all_)) return false;
    ++(own == owned_.end() ? owned_.emplace(owner, 0).first : own)->second;
    ++taken_;
    return true;
  }
  // Gives back what was taken.
  void leave(std::string_view owner) {
    const std::lock_guard lock(mutex_);
    const auto own = owned_.find(owner);
    if (--own->second == 0) owned_.erase(own);
    --taken_;
  }
  std::size_t taken() const { return taken_; }

 private:
  std::size_t all_;
  std::atomic<std::size_t> taken_ = 0;
  std::mutex mutex_;                                         // guards the member below
  std::map<std::string, std::size_t, std::less<>> owned_{};  // those taken, by owner
};

}  // namespace plimsoll::gateway
