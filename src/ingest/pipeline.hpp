// The write path: files in, documents with their vectors in the store.
//
// What is unchanged since it was stored is neither cut nor embedded again. Documents go into the store in
// small batches, every two seconds or so; a batch is stored as a whole or not at all, so that a stop, an
// error or a crash leaves an index that is consistent and has all but the last batch, and the next run
// continues there.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/cut.hpp"
#include "ingest/read/read.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

struct SourceFile {
  std::string key;  // that its document gets if no other file has it
  FileSource source;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  bool wanted = false;  // it was named by the user: read it, whatever is in it
};

struct IngestOptions {
  ReadOptions read;
  CutOptions cut;
  Metadata metadata;                   // put on every document, beside what it says of itself
  std::size_t batch_documents = 256;   // that one batch holds at most
  std::size_t batch_sentences = 2048;  // likewise, but for one large document; fewer where embedding is slow
  std::chrono::milliseconds batch_time{2'000};  // that a batch takes, about
};

struct Problem {
  std::string key;
  std::string reason;
};

struct IngestCounts {
  std::size_t files = 0;  // looked at
  std::size_t added = 0, updated = 0, unchanged = 0;
  std::uint64_t bytes = 0;    // of files that are done, and of those under way in proportion
  std::size_t sentences = 0;  // embedded
  std::size_t chunks = 0;     // stored
};

struct IngestReport {
  IngestCounts counts;
  std::vector<Problem> problems;  // files that should have gone in and did not
  std::vector<Problem> skipped;   // files of kinds that are not indexed
  std::vector<Problem> warnings;  // files that went in, but not as they should
  bool stopped = false;
};

// After each file and during long ones. False: stop after what is under way.
using Progress = std::function<bool(const IngestCounts& counts, std::string_view key)>;

// Everything that an ingest needs; all of it outlives the call.
struct IngestTools {
  Store& store;
  const IndexInfo& index;
  const Tokenizer& tokenizer;            // the index's
  std::span<Embedder* const> embedders;  // the index's, in its order
};

// An error is one of the store or of an embedder; a file that cannot be read is a problem in the report.
Result<IngestReport> ingest_files(const IngestTools& tools, std::span<const SourceFile> files,
                                  const IngestOptions& options, const Progress& progress);

// The document that a file's bytes are, but for its source_hash, which who asks has often reckoned already.
// `name`: for finding out its kind.
Result<Document> make_document(std::string_view bytes, std::string_view key, std::string_view name,
                               const Tokenizer& tokenizer, const IngestOptions& options,
                               std::vector<std::string>& warnings);

}  // namespace plimsoll::ingest
