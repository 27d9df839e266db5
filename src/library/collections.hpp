// Documents as clients keep them over HTTP: texts with ids and metadata, in collections that their first
// document makes.
//
// A call that changes a collection does so whole or not at all. Reading, cutting and embedding go before the
// change, so that a long one holds up nobody.
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

// A file as somebody sent it. Its name is only a name: nothing is opened or written by it.
struct GivenFile {
  std::string name;        // the document's key, and what its kind may be told by
  std::string_view bytes;  // live until it is put
};
enum class FileStage : std::uint8_t { reading, embedding, storing };
// Asked at each stage, and at `embedding` again and again with how many sentences are done. False: stop.
using FileProgress = std::function<bool(FileStage stage, std::size_t sentences)>;
enum class FileFate : std::uint8_t { added, updated, unchanged };
struct FileOutcome {
  FileFate fate = FileFate::added;
  std::size_t chunks = 0;
  std::vector<std::string> warnings;
};

// What collections stand on; all of it outlives them.
struct CollectionTools {
  OpenIndexes& open_indexes;
  const TokenizerLibrary& tokenizers;
  std::function<Result<IndexSettings>()> settings_of_new;
  std::function<Result<std::vector<Embedder*>>(const IndexInfo& info)> embedders_of;
  std::function<void(const IndexInfo& gone)> removed;  // what was derived from it may go
  std::uint64_t max_document_bytes = std::uint64_t{64} << 20;
};

// Places in what was given.
struct UpdateOutcome {
  std::vector<std::size_t> updated, unchanged, not_found;
};

// Any thread may call at any time; all of it blocks. not_found: "No such index: 'X' exists."
class Collections {
 public:
  explicit Collections(CollectionTools tools) : tools_(std::move(tools)) {}

  Store& store() const { return tools_.open_indexes.store(); }
  OpenIndexes& open_indexes() const { return tools_.open_indexes; }

  // In the order of their making.
  Result<std::vector<std::string>> names(std::string_view owner) const;
  Result<IndexInfo> find(std::string_view owner, std::string_view name) const;

  // Those whose ids are there already stay as they are. None at all: no collection is made. unsupported: code
  // in no language, or one that is not known.
  Result<void> add(std::string_view owner, std::string_view name, std::span<const GivenDocument> given,
                   Deadline deadline);
  // A document that changes keeps its id and becomes the last of the collection.
  Result<UpdateOutcome> update(std::string_view owner, std::string_view name,
                               std::span<const GivenDocument> given, Deadline deadline);
  // Read as `plimsoll index add` reads it, cut, embedded and put in; a document of the same name gives way.
  // What is unchanged is not read again. timed_out where it was told to stop.
  Result<FileOutcome> put_file(std::string_view owner, std::string_view name, const GivenFile& file,
                               const Metadata& metadata, const FileProgress& progress);
  // The ids that were there.
  Result<std::vector<std::string>> remove(std::string_view owner, std::string_view name,
                                          std::span<const std::string> ids);
  Result<void> remove_index(std::string_view owner, std::string_view name);

  // Does the work while nobody here changes the collection. Without one of that name `info` is null.
  Result<void> undisturbed(std::string_view owner, std::string_view name,
                           const std::function<Result<void>(const IndexInfo* info)>& work);

 private:
  Result<IndexInfo> find_or_intended(std::string_view owner, std::string_view name) const;
  Result<std::vector<DocumentWithVectors>> prepared(const IndexInfo& info,
                                                    std::span<const GivenDocument* const> given,
                                                    std::span<const DocumentWithVectors> known,
                                                    Deadline deadline) const;
  Result<void> put_into_new(const IndexInfo& intended, std::span<const DocumentWithVectors> documents);
  // Of one collection, for its changes.
  std::shared_ptr<std::mutex> turn_of(std::string_view owner, std::string_view name);

  CollectionTools tools_;
  std::mutex mutex_;  // of the map
  std::map<std::pair<std::string, std::string>, std::weak_ptr<std::mutex>> turns_;
};

}  // namespace plimsoll::library
