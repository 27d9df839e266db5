// A file descriptor that closes itself, and error messages for system errors. Private to base.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

// "cannot read '/etc/shadow': Permission denied", from errno; a missing file is not_found.
tl::unexpected<Error> system_failure(std::string_view doing, const std::filesystem::path& path);

class OpenFile {
 public:
  // Does not wait for the other end of a pipe.
  static Result<OpenFile> for_reading(const std::filesystem::path& path);
  // Creates a new file with a unique name next to `path`; sets `name`.
  static Result<OpenFile> beside(const std::filesystem::path& path, std::filesystem::path& name);

  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  // bad_input for a folder, a pipe or a device.
  Result<std::size_t> regular_size() const;
  // Closes now, to get errors of closing.
  Result<void> close();

 private:
  OpenFile(int descriptor, std::filesystem::path path);

  int descriptor_;
  std::filesystem::path path_;
};

}  // namespace plimsoll::base
