// Whole files in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

// The bytes of a file, or of a pipe or device until its end. More than `limit_bytes`: bad_input; no
// more than one byte above the limit is ever read.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes);

// Replaces the file as one step: who reads it sees the old bytes or the new ones, also after a crash.
// Folders on the way are made. On failure the old file stands and nothing is left beside it.
Result<void> write_atomically(const std::filesystem::path& path, std::string_view bytes);
// The same for bytes that lie in several places.
Result<void> write_atomically(const std::filesystem::path& path, std::span<const std::string_view> parts);

}  // namespace plimsoll::base
