// Each server holds a lock file next to its store while it runs; the lock ends even if the server is killed.
#pragma once

#include <filesystem>

#include "plimsoll/result.hpp"

namespace plimsoll {

class ServeLock {
 public:
  static Result<ServeLock> take(const std::filesystem::path& store_file);
  ServeLock(ServeLock&& other) noexcept;
  ServeLock& operator=(ServeLock&&) = delete;
  ~ServeLock();

  // Returns whether no other server used the store when the lock was taken. Others wait until it is shared.
  bool is_alone() const { return is_alone_; }
  Result<void> share();

 private:
  ServeLock(int descriptor, bool is_alone) : descriptor_(descriptor), is_alone_(is_alone) {}

  int descriptor_;
  bool is_alone_;
};

}  // namespace plimsoll
