// Collections of documents over HTTP: texts with ids and metadata. A collection is created by its first
// document.
//
// A call changes a collection completely or not at all. Reading, chunking and embedding come before the
// change, so a long call does not block others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library/open_indexes.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll::library {

struct GivenDocument {
  std::string id;    // its key
  std::string text;  // well-formed UTF-8
  // Values are JSON as nlohmann::json writes it. {"split_type": "code", "language": ...} is read as code of
  // that language.
  Metadata metadata;
};

// An uploaded file. Its name is never used to open or write a file.
struct GivenFile {
  std::string name;        // the document's key; may be used to detect its type
  std::string_view bytes;  // must live until the call returns
};
enum class FileStage : std::uint8_t { reading, embedding, storing };
// Called at each stage, and repeatedly during `embedding` with the number of finished sentences. False: stop.
using FileProgress = std::function<bool(FileStage stage, std::size_t sentences)>;
enum class FileFate : std::uint8_t { added, updated, unchanged };
struct FileOutcome {
  FileFate fate = FileFate::added;
  std::size_t chunks = 0;
  std::vector<std::string> warnings;
};

// Dependencies of collections; must outlive them.
struct CollectionTools {
  OpenIndexes& open_indexes;
  const TokenizerLibrary& tokenizers;
  std::function<Result<IndexSettings>()> settings_of_new;
  std::function<Result<std::vector<Embedder*>>(const IndexInfo& info)> embedders_of;
  std::function<void(const IndexInfo& gone)> removed;  // its search data may be deleted
  std::uint64_t max_document_bytes = std::uint64_t{64} << 20;
  // Waits for the turn of an index among all processes; it ends when it is destroyed. Empty: turns of this
  // process are enough.
  std::function<Result<std::shared_ptr<const void>>(std::string_view owner, std::string_view name)>
      take_turn = {};
};

// Indices into the given documents.
struct UpdateOutcome {
  std::vector<std::size_t> updated, unchanged, not_found;
};

// Thread-safe; all calls block. not_found: "No such index: 'X' exists."
class Collections {
 public:
  explicit Collections(CollectionTools tools) : tools_(std::move(tools)) {}

  Store& store() const { return tools_.open_indexes.store(); }
  OpenIndexes& open_indexes() const { return tools_.open_indexes; }

  // Oldest first.
  Result<std::vector<std::string>> names(std::string_view owner) const;
  Result<IndexInfo> find(std::string_view owner, std::string_view name) const;

  // Adds documents; existing ids are not changed. With no documents, no collection is created. unsupported:
  // code without a language, or in an unknown one.
  Result<void> add(std::string_view owner, std::string_view name, std::span<const GivenDocument> given,
                   Deadline deadline);
  // A changed document keeps its id and moves to the end of the collection.
  Result<UpdateOutcome> update(std::string_view owner, std::string_view name,
                               std::span<const GivenDocument> given, Deadline deadline);
  // Reads, chunks, embeds and stores a file like `plimsoll index add`; replaces a document of the same name.
  // An unchanged file is skipped. timed_out: it was stopped.
  Result<FileOutcome> put_file(std::string_view owner, std::string_view name, const GivenFile& file,
                               const Metadata& metadata, const FileProgress& progress);
  // Returns the removed ids.
  Result<std::vector<std::string>> remove(std::string_view owner, std::string_view name,
                                          std::span<const std::string> ids);
  Result<void> remove_index(std::string_view owner, std::string_view name);

  // Runs the work while no gateway changes anything in the collection. `info` is null if it does not exist.
  Result<void> undisturbed(std::string_view owner, std::string_view name,
                           const std::function<Result<void>(const IndexInfo* info)>& work);

 private:
  Result<IndexInfo> find_or_intended(std::string_view owner, std::string_view name) const;
  Result<std::vector<DocumentWithVectors>> prepared(const IndexInfo& info,
                                                    std::span<const GivenDocument* const> given,
                                                    std::span<const DocumentWithVectors> known,
                                                    Deadline deadline) const;
  Result<void> put_into_new(const IndexInfo& intended, std::span<const DocumentWithVectors> documents);
  // Nobody else changes the collection until it is destroyed.
  struct Turn {
    std::shared_ptr<std::mutex> mutex;
    std::unique_lock<std::mutex> lock;   // among the requests of this process
    std::shared_ptr<const void> shared;  // among processes
  };
  Result<Turn> turn_of(std::string_view owner, std::string_view name);

  CollectionTools tools_;
  std::mutex mutex_;  // guards the map
  std::map<std::pair<std::string, std::string>, std::weak_ptr<std::mutex>> turns_;
};

}  // namespace plimsoll::library
