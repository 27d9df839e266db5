// One file out of a ZIP archive in memory, with a bound on what it may unpack to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

// Nothing: the archive has no such file. bad_input: damaged, protected, or larger than the limit, by what it
// says or by what comes out of it.
Result<std::optional<std::string>> zip_entry(std::string_view archive, const char* name,
                                             std::uint64_t most_bytes);

}  // namespace plimsoll::ingest
