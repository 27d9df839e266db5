#include "base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/open_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::base {
namespace {

constexpr std::size_t block_bytes = 256 * 1024;

// Returns the bytes read, 0 at the end. The descriptor is non-blocking, so that opening a pipe does not
// hang; this function waits for data.
Result<std::size_t> read_some(const OpenFile& file, char* into, std::size_t room,
                              const std::filesystem::path& path) {
  while (true) {
    const ssize_t got = ::read(file.descriptor(), into, room);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN) {
      pollfd waiting{.fd = file.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return system_failure("read", path);
    }
  }
}

Result<void> write_all(const OpenFile& file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.descriptor(), bytes.data(), bytes.size());
    if (put >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(put));
    else if (errno != EINTR)
      return system_failure("write", path);
  }
  return {};
}

// A rename is durable only after its folder is synced.
Result<void> sync_folder(const std::filesystem::path& folder) {
  TRY(const OpenFile file, OpenFile::for_reading(folder));
  // Some file systems cannot sync a folder and return EINVAL, which is ignored.
  if (::fsync(file.descriptor()) != 0 && errno != EINVAL) return system_failure("sync", folder);
  return {};
}

Result<void> fill_and_rename(OpenFile& file, const std::filesystem::path& temporary,
                             const std::filesystem::path& path, std::span<const std::string_view> parts) {
  for (const std::string_view bytes : parts) TRY_VOID(write_all(file, bytes, temporary));
  if (::fsync(file.descriptor()) != 0) return system_failure("sync", temporary);
  TRY_VOID(file.close());
  if (::rename(temporary.c_str(), path.c_str()) != 0) return system_failure("replace", path);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  TRY(const OpenFile file, OpenFile::for_reading(path));
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    const std::uint64_t left = limit_bytes - used;  // one more byte is read, to detect a larger file
    const std::size_t room = left < block_bytes ? static_cast<std::size_t>(left) + 1 : block_bytes;
    text.resize(used + room);
    TRY(const std::size_t got, read_some(file, text.data() + used, room, path));
    text.resize(used + got);
    if (got == 0) break;
    if (text.size() > limit_bytes)
      return fail(Errc::bad_input, "'{}' is larger than the limit of {} bytes", path.string(),
                  with_thousands(static_cast<std::int64_t>(limit_bytes)));
  }
  return text;
}

Result<void> write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  return write_atomically(path, std::span(&bytes, 1));
}

Result<void> write_atomically(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io_failed, "cannot create folder '{}': {}", folder.string(), error.message());

  std::filesystem::path temporary;
  TRY(OpenFile file, OpenFile::beside(path, temporary));
  if (auto written = fill_and_rename(file, temporary, path, parts); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_folder(folder);
}

}  // namespace plimsoll::base
