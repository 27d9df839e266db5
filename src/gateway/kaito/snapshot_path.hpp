// The path of an index snapshot: always below one folder, whatever a request says.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

struct SnapshotPath {
  std::filesystem::path folder;
  std::string shown;  // as shown in answers
};

// Returns the root of one key below the common root. No path of another root leads
// there.
std::filesystem::path private_root(const std::filesystem::path& root, std::string_view owner);

// `given`: the request's path; none, or the root itself: the default folder of the index. A relative path
// starts at the root. bad_input: it leads outside, also through links.
Result<SnapshotPath> snapshot_path(const std::filesystem::path& root, const std::optional<std::string>& given,
                                   std::string_view index);

}  // namespace plimsoll::gateway
