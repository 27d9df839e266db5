// Finds the files to read: those named, and those below the folders named, without what ignore files leave
// out.
//
// .gitignore and .plimsollignore count in every folder (of two that disagree, the latter wins), and those of
// the folders above up to the one that holds .git. Names that begin with a dot are passed over. A link to a
// file is read; a link to a folder is not followed, so that no walk goes round. Files come in the order of
// their names.
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
  std::string key;  // relative to the folder given, with '/'; of a file that was given itself, its name
  std::uint64_t bytes = 0;
  bool wanted = false;  // it was named, or an include pattern names it
};

struct WalkProblem {
  std::filesystem::path path;
  std::string reason;    // a sentence without the path
  bool skipped = false;  // nothing is wrong: it is of a kind that is not read
};

struct WalkOptions {
  bool ignore_files = true;
  // Patterns as in .gitignore, relative to the root. If there are any to include, files that none of them
  // names are passed over. Those to exclude win.
  std::vector<std::string> include{}, exclude{};
  bool hidden = false;             // names that begin with a dot too; .git never
  std::uint32_t most_depth = 200;  // folders in each other
};

// `found` may end the walk by an error, which is given back. What cannot be read goes to `problem`, and the
// walk goes on. not_found: there is no such file or folder.
Result<void> walk(const std::filesystem::path& root, const WalkOptions& options,
                  const std::function<Result<void>(const FoundFile&)>& found,
                  const std::function<void(const WalkProblem&)>& problem);

}  // namespace plimsoll::ingest
