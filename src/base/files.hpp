// Reads and writes whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

// Reads a file, or a pipe or device until its end. bad_input: more than `limit_bytes`; at most one byte above
// the limit is read.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes);

// Replaces the file atomically: readers see the old bytes or the new ones, even after a crash.
// Creates missing folders. On failure the old file stays and no temporary file is left.
Result<void> write_atomically(const std::filesystem::path& path, std::string_view bytes);
// The same for bytes in several parts.
Result<void> write_atomically(const std::filesystem::path& path, std::span<const std::string_view> parts);

}  // namespace plimsoll::base
