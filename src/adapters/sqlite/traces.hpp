// The TraceStore port over the same SQLite file that holds the documents.
#pragma once

#include <filesystem>
#include <memory>

#include "adapters/sqlite/options.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::sqlite {

// Folders on the way are made; a file that may only be read is opened for reading. What was kept survives the
// end of the process, however it ends; a power cut may take the last few traces. One call removes at most
// `most_removed` traces beyond the limits, so that none takes long when limits were lowered.
Result<std::unique_ptr<TraceStore>> open_traces(const std::filesystem::path& file,
                                                const OpenOptions& options = {});
inline constexpr std::int64_t most_removed = 20'000;

}  // namespace plimsoll::sqlite
