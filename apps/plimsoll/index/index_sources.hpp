// The files that `index add` was given, and what is left in an index of files that are gone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/documents.hpp"
#include "index/index_add.hpp"
#include "ingest/pipeline.hpp"

namespace plimsoll {

// A path that was given.
struct Root {
  std::string label;  // what the keys of its documents begin with; "" for the current folder
  std::string path;   // absolute, without links
};

struct Sources {
  std::vector<ingest::SourceFile> files;
  std::vector<ingest::Problem> problems, skipped;
  std::vector<Root> roots;
  std::vector<std::string> unseen;  // files and folders that could not be looked at; absolute
  std::uint64_t bytes = 0;
};

// All files below the paths that were given. io_failed: one of these cannot be resolved.
Result<Sources> find_sources(const IndexAddOptions& options);

// Removes the documents of files below the given paths that are gone or left out now, and gives back their
// disk space. How many were removed; `notes` says what was kept though its file was not found.
Result<std::size_t> prune(Documents& documents, const IndexInfo& index, const Sources& sources,
                          std::vector<std::string>& notes);

}  // namespace plimsoll
