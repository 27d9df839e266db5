// The write path: reads files and stores documents with their vectors.
//
// Unchanged files are neither chunked nor embedded again. Documents are stored in small batches, about every
// two seconds; a batch is stored completely or not at all, so a stop, an
// error or a crash leaves a consistent index without the last batch, and the next run
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
  std::string key;  // of its document, unless another file has it
  FileSource source;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  bool wanted = false;  // named by the user: always read it
};

struct IngestOptions {
  ReadOptions read;
  CutOptions cut;
  Metadata metadata;                  // added to every document
  std::size_t batch_documents = 256;  // most documents per batch
  std::size_t batch_sentences =
      2048;  // most sentences per batch, except for one large document; fewer if embedding is slow
  std::chrono::milliseconds batch_time{2'000};  // approximate time of a batch
};

struct Problem {
  std::string key;
  std::string reason;
};

struct IngestCounts {
  std::size_t files = 0;  // checked
  std::size_t added = 0, updated = 0, unchanged = 0;
  std::uint64_t bytes = 0;    // of finished files, and proportionally of current ones
  std::size_t sentences = 0;  // embedded
  std::size_t chunks = 0;     // stored
};

struct IngestReport {
  IngestCounts counts;
  std::vector<Problem> problems;  // files that could not be added
  std::vector<Problem> skipped;   // files of kinds that are not indexed
  std::vector<Problem> warnings;  // files that were added with restrictions
  bool stopped = false;
};

// Called after each file and during long ones. False: stop after the current batch.
using Progress = std::function<bool(const IngestCounts& counts, std::string_view key)>;

// Dependencies; all must outlive the call.
struct IngestTools {
  Store& store;
  const IndexInfo& index;
  const Tokenizer& tokenizer;            // the index's
  std::span<Embedder* const> embedders;  // the index's, in its order
};

// Fails if the store or an embedder fails; a file that cannot be read is a problem in the report.
Result<IngestReport> ingest_files(const IngestTools& tools, std::span<const SourceFile> files,
                                  const IngestOptions& options, const Progress& progress);

// Makes a document from a file's bytes, without source_hash, which the caller often has already.
// `name`: for detecting its type.
Result<Document> make_document(std::string_view bytes, std::string_view key, std::string_view name,
                               const Tokenizer& tokenizer, const IngestOptions& options,
                               std::vector<std::string>& warnings);

}  // namespace plimsoll::ingest
