// Finds the files to read: named files, and files below named folders, except those that ignore files
// exclude.
//
// .gitignore and .plimsollignore are used in every folder (if they disagree, the latter wins), and those of
// parent folders up to the one with .git. Names that start with a dot are skipped. A link to a
// file is read; a link to a folder is not followed, to avoid cycles. Files are sorted by
// name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct FoundFile {
  std::filesystem::path path;
  std::string key;  // relative to the given folder, with '/'; for a given file, its name
  std::uint64_t bytes = 0;
  bool wanted = false;  // named by the user or by an include pattern
};

struct WalkProblem {
  std::filesystem::path path;
  std::string reason;    // a sentence without the path
  bool skipped = false;  // not an error: a type that is not read
};

struct WalkOptions {
  bool ignore_files = true;
  // Patterns as in .gitignore, relative to the root. If there are include patterns, only matching files are
  // found. Exclude patterns win.
  std::vector<std::string> include{}, exclude{};
  bool hidden = false;             // include names that start with a dot, except .git
  std::uint32_t most_depth = 200;  // nesting of folders
};

// An error from `found` ends the walk and is returned. Unreadable files are reported to `problem`, and the
// walk continues. not_found: no such file or folder.
Result<void> walk(const std::filesystem::path& root, const WalkOptions& options,
                  const std::function<Result<void>(const FoundFile&)>& found,
                  const std::function<void(const WalkProblem&)>& problem);

}  // namespace plimsoll::ingest
