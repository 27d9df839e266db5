// Where a snapshot of an index lies: below one folder, whatever a request says.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

struct SnapshotPath {
  std::filesystem::path folder;
  std::string shown;  // as answers name it
};

// Below a root, what belongs to single keys: `private_root` is the root of one of them. No path of another
// root leads there.
std::filesystem::path private_root(const std::filesystem::path& root, std::string_view owner);

// `given`: the request's path; none, or the root itself: the root's folder for that index. A relative path is
// one below the root. bad_input where it leads out, also by links.
Result<SnapshotPath> snapshot_path(const std::filesystem::path& root, const std::optional<std::string>& given,
                                   std::string_view index);

}  // namespace plimsoll::gateway
