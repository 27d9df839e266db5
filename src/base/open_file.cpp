#include "base/open_file.hpp"

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plimsoll::base {

tl::unexpected<Error> system_failure(std::string_view doing, const std::filesystem::path& path) {
  const int reason = errno;
  const Errc code = reason == ENOENT || reason == ENOTDIR ? Errc::not_found
                    : reason == EISDIR                    ? Errc::bad_input
                                                          : Errc::io_failed;
  return fail(code, "cannot {} '{}': {}", doing, path.string(), std::generic_category().message(reason));
}

OpenFile::OpenFile(int descriptor, std::filesystem::path path)
    : descriptor_(descriptor), path_(std::move(path)) {}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<OpenFile> OpenFile::for_reading(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_failure("open", path);
  return OpenFile(descriptor, path);
}

Result<OpenFile> OpenFile::beside(const std::filesystem::path& path, std::filesystem::path& name) {
  static std::atomic<unsigned> serial{0};
  for (int attempt = 0; attempt < 100; ++attempt) {  // a killed process may have left temporary files
    name = path;
    name += fmt::format(".{}.{}.tmp", ::getpid(), serial++);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return OpenFile(descriptor, name);
    if (errno != EEXIST) break;
  }
  return system_failure("create", name);
}

Result<std::size_t> OpenFile::regular_size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return system_failure("examine", path_);
  if (S_ISDIR(status.st_mode)) return fail(Errc::bad_input, "'{}' is a folder, not a file", path_.string());
  if (!S_ISREG(status.st_mode)) return fail(Errc::bad_input, "'{}' is not a regular file", path_.string());
  return static_cast<std::size_t>(status.st_size);
}

Result<void> OpenFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) return system_failure("close", path_);
  return {};
}

}  // namespace plimsoll::base
