// Copies an index from one store into another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "plimsoll/store.hpp"

namespace plimsoll::library {

struct IndexTarget {
  std::string owner, name;
  bool replace = false;  // an index of that name
};

enum class IndexCopyStep : std::uint8_t { copying, verifying };
// Of the documents of one step. False: stop.
using IndexCopyProgress = std::function<bool(IndexCopyStep step, std::int64_t done, std::int64_t total)>;

struct IndexCopied {
  std::int64_t documents = 0;
  std::int64_t there = 0;      // of them, left by an interrupted copy
  std::uint64_t checksum = 0;  // of all documents with their vectors, the same on both sides
  bool stopped = false;        // the next copy goes on from here
};

// Copies all documents with their vectors. The target is visible under its name once it is complete and its
// checksum is that of the source. `from` can be read meanwhile; documents that change are copied again.
// bad_input: the target exists, or the source does not stop changing; damaged: the checksums differ.
Result<IndexCopied> copy_index(Store& from, const IndexInfo& source, Store& to, const IndexTarget& target,
                               const IndexCopyProgress& progress);

// Copies all documents into an empty index, in steps of a few megabytes.
Result<void> copy_documents(Store& from, IndexId source, Store& to, IndexId target);

}  // namespace plimsoll::library
