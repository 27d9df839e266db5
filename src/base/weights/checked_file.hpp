// Compares files with the checksum that they must have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

enum class Checking : std::uint8_t {
  if_changed,  // a file that was right and has the same size and times is not read again
  always,
};

// not_found: no such file; damaged: its SHA-256 is not `sha256`. `notes` is a folder of small files, one for
// each file that was right. A disk that changes bits without a write is noticed by Checking::always alone.
Result<void> check_file(const std::filesystem::path& file, std::string_view sha256,
                        const std::filesystem::path& notes, Checking checking);

}  // namespace plimsoll::base
