// The built-in index: implements the Index port over the Store port.
//
// It is in memory and in snapshots, files in its own folder. Both are derived: missing, damaged or outdated
// data is rebuilt from the store, and a process killed at any moment leaves the old
// file or the new one.
#pragma once

#include <filesystem>
#include <memory>

#include "plimsoll/index.hpp"
#include "search/vectors.hpp"

namespace plimsoll::search {

struct OpenOptions {
  std::filesystem::path folder;  // for snapshots; empty: no snapshots
  VectorOptions vectors;
  // A new snapshot is made automatically when this share and this number of chunks have
  // changed.
  double snapshot_share = 0.2;
  std::size_t snapshot_chunks = 256;
  double compact_share = 0.25;  // share of deleted vectors above which the next snapshot drops them
};

class SnapshotIndex : public Index {
 public:
  // Merges everything into one segment, and writes it if there is a folder. Searches continue meanwhile. On
  // an error nothing was written; the index in memory stays valid.
  virtual Result<void> snapshot() = 0;
};

// Opens the index at the store's current revision. `store` must outlive it. If a snapshot cannot be written,
// this is logged and is not an error.
Result<std::unique_ptr<SnapshotIndex>> open_index(Store& store, const IndexInfo& info,
                                                  const OpenOptions& options);

}  // namespace plimsoll::search
