#include "serve/serve_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace plimsoll {

Result<ServeLock> ServeLock::take(const std::filesystem::path& store_file) {
  const std::string file = store_file.string() + ".serving";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return fail(Errc::io_failed, "cannot open {}: {}; it must be writable, like the store next to it", file,
                std::strerror(errno));
  const bool is_alone = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ServeLock lock(descriptor, is_alone);
  if (is_alone) return lock;
  if (auto shared = lock.share(); !shared) return tl::unexpected(shared.error());
  return lock;
}

ServeLock::ServeLock(ServeLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), is_alone_(other.is_alone_) {}

ServeLock::~ServeLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> ServeLock::share() {
  if (::flock(descriptor_, LOCK_SH) == 0) return {};
  return fail(Errc::io_failed, "cannot share the lock of the store: {}", std::strerror(errno));
}

}  // namespace plimsoll
