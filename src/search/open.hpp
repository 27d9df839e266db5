// The index that Plimsoll carries with it: implements the Index port over the Store port.
//
// It lives in memory and in snapshots, files in a folder of its own. Both are derived: what is missing,
// damaged or too old is made anew from the store, and a process that is killed at any moment leaves the old
// file or the new one.
#pragma once

#include <filesystem>
#include <memory>

#include "plimsoll/index.hpp"
#include "search/vectors.hpp"

namespace plimsoll::search {

struct OpenOptions {
  std::filesystem::path folder;  // for snapshots; empty: none are kept
  VectorOptions vectors;
  // A new snapshot is made by itself when so much has changed since the last: this share of it, and so many
  // chunks.
  double snapshot_share = 0.2;
  std::size_t snapshot_chunks = 256;
  double compact_share = 0.25;  // of the vectors that are dead: then they are left out of the next snapshot
};

class SnapshotIndex : public Index {
 public:
  // Merges what there is into one piece, and writes it where there is a folder. Searches go on meanwhile. An
  // error says why nothing could be written; what is in memory stands.
  virtual Result<void> snapshot() = 0;
};

// Stands at the store's revision of this moment. `store` must outlive it. A snapshot that cannot be written
// is logged and is no error: the index works without.
Result<std::unique_ptr<SnapshotIndex>> open_index(Store& store, const IndexInfo& info,
                                                  const OpenOptions& options);

}  // namespace plimsoll::search
