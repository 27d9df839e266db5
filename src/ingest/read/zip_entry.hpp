// Extracts one file from a ZIP archive in memory, with a size limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

// None: the archive has no such file. bad_input: damaged, protected, or larger than the limit, by its
// declared or actual size.
Result<std::optional<std::string>> zip_entry(std::string_view archive, const char* name,
                                             std::uint64_t most_bytes);

}  // namespace plimsoll::ingest
