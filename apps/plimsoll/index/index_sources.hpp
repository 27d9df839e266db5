// Finds the files for `index add`, and removes documents of deleted files.
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
  std::string label;  // prefix of its document keys; "" for the current folder
  std::string path;   // absolute, without links
};

struct Sources {
  std::vector<ingest::SourceFile> files;
  std::vector<ingest::Problem> problems, skipped;
  std::vector<Root> roots;
  std::vector<std::string> unseen;  // files and folders that could not be checked; absolute
  std::uint64_t bytes = 0;
};

// Returns all files below the given paths. io_failed: a path cannot be resolved.
Result<Sources> find_sources(const IndexAddOptions& options);

// Removes documents of files below the given paths that are deleted or now excluded, and frees their disk
// space. Returns their number; `notes` says what was kept although its file was not found.
Result<std::size_t> prune(Documents& documents, const IndexInfo& index, const Sources& sources,
                          std::vector<std::string>& notes);

// Returns a note on the documents that are still searched although their files below the given paths do not
// exist; empty: there are none.
Result<std::string> note_on_deleted(Documents& documents, const IndexInfo& index, const Sources& sources);

}  // namespace plimsoll
