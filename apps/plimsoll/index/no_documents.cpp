#include "index/no_documents.hpp"

namespace plimsoll {
namespace {

tl::unexpected<Error> not_there() {
  return fail(
      Errc::unsupported,
      "documents and indexes cannot be kept on PostgreSQL yet: use a store in a file for them (--store FILE, "
      "or the setting store_file without store)");
}

class NoDocuments final : public Store {
 public:
  Result<IndexInfo> create_index(std::string_view, std::string_view, const IndexSettings&) override {
    return not_there();
  }
  Result<IndexInfo> find_index(std::string_view, std::string_view) override { return not_there(); }
  Result<IndexStamp> find_stamp(std::string_view, std::string_view) override { return not_there(); }
  Result<std::vector<IndexInfo>> indexes(std::string_view) override { return std::vector<IndexInfo>(); }
  Result<void> remove_index(IndexId) override { return not_there(); }
  Result<std::vector<DocumentId>> put(IndexId, std::span<const DocumentWithVectors>) override {
    return not_there();
  }
  Result<std::vector<std::string>> remove(IndexId, std::span<const std::string>) override {
    return not_there();
  }
  Result<std::optional<DocumentHead>> head(IndexId, std::string_view) override { return not_there(); }
  Result<std::vector<DocumentHead>> documents(IndexId, const Filter&, DocumentId, std::size_t) override {
    return not_there();
  }
  Result<std::vector<StoredSource>> sources(IndexId) override { return not_there(); }
  Result<void> set_sources(IndexId, std::span<const FoundSource>) override { return not_there(); }
  Result<std::vector<DocumentId>> matching(IndexId, const Filter&) override { return not_there(); }
  Result<DocumentWithVectors> document(DocumentId) override { return not_there(); }
  Result<std::vector<Origin>> origins(DocumentId) override { return not_there(); }
  Result<std::vector<DocumentHead>> heads(std::span<const DocumentId>) override { return not_there(); }
  Result<std::vector<std::uint64_t>> lines(DocumentId, std::span<const std::uint64_t>) override {
    return not_there();
  }
  Result<std::vector<StoredChunk>> chunks(IndexId, std::span<const ChunkId>) override { return not_there(); }
  Result<void> each_chunk(IndexId, ChunkId, const ChunkVisitor&) override { return not_there(); }
  Result<std::optional<std::vector<Removed>>> removed_since(IndexId, Revision) override {
    return not_there();
  }
  Result<std::vector<ChunkId>> living(IndexId) override { return not_there(); }
  Result<std::vector<std::string>> verify(IndexId) override { return not_there(); }
  Result<void> compact() override { return {}; }
  Result<void> rename_index(IndexId, std::string_view, std::string_view) override { return not_there(); }
};

}  // namespace

std::unique_ptr<Store> no_documents() {
  return std::make_unique<NoDocuments>();
}

}  // namespace plimsoll
