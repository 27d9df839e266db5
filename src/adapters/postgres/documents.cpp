#include "adapters/postgres/documents.hpp"

#include "adapters/postgres/rows_of_documents.hpp"
#include "base/documents/stored_document.hpp"

namespace plimsoll::postgres {
namespace {

class PostgresDocuments final : public Store {
 public:
  explicit PostgresDocuments(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<IndexInfo> create_index(std::string_view owner, std::string_view name,
                                 const IndexSettings& settings) override {
    return database_->written(
        [&](Connection& connection) { return insert_index(connection, owner, name, settings); });
  }
  Result<IndexInfo> find_index(std::string_view owner, std::string_view name) override {
    return database_->read([&](Connection& connection) { return index_named(connection, owner, name); });
  }
  Result<IndexStamp> find_stamp(std::string_view owner, std::string_view name) override {
    return database_->read([&](Connection& connection) { return stamp_named(connection, owner, name); });
  }
  Result<std::vector<IndexInfo>> indexes(std::string_view owner) override {
    return database_->read([&](Connection& connection) { return all_indexes(connection, owner); });
  }
  Result<void> remove_index(IndexId index) override {
    TRY_VOID(database_->written([&](Connection& connection) { return drop_index(connection, index); }));
    sweep();
    return {};
  }
  Result<void> rename_index(IndexId index, std::string_view owner, std::string_view name) override {
    TRY_VOID(database_->written(
        [&](Connection& connection) { return change_name(connection, index, owner, name); }));
    sweep();
    return {};
  }

  Result<std::vector<DocumentId>> put(IndexId index,
                                      std::span<const DocumentWithVectors> documents) override {
    // The settings of an index do not change, so that this need not be done while it is locked.
    TRY(const IndexInfo info,
        database_->read([&](Connection& connection) { return index_numbered(connection, index); }));
    for (const DocumentWithVectors& document : documents) TRY_VOID(base::check_document(info, document));
    return database_->written(
        [&](Connection& connection) { return put_documents(connection, info, documents); });
  }
  Result<std::vector<std::string>> remove(IndexId index, std::span<const std::string> keys) override {
    return database_->written(
        [&](Connection& connection) { return remove_documents(connection, index, keys); });
  }

  Result<std::optional<DocumentHead>> head(IndexId index, std::string_view key) override {
    return database_->read([&](Connection& connection) { return select_head(connection, index, key); });
  }
  Result<std::vector<DocumentHead>> documents(IndexId index, const Filter& filter, DocumentId after,
                                              std::size_t limit) override {
    return database_->read(
        [&](Connection& connection) { return select_heads(connection, index, filter, after, limit); });
  }
  Result<std::vector<StoredSource>> sources(IndexId index) override {
    return database_->viewed([&](Connection& connection) { return select_sources(connection, index); });
  }
  Result<void> set_sources(IndexId index, std::span<const FoundSource> found) override {
    return database_->written(
        [&](Connection& connection) { return update_sources(connection, index, found); });
  }
  Result<std::vector<DocumentId>> matching(IndexId index, const Filter& filter) override {
    return database_->read(
        [&](Connection& connection) { return select_matching(connection, index, filter); });
  }
  Result<DocumentWithVectors> document(DocumentId id) override {
    return database_->viewed([&](Connection& connection) { return select_document(connection, id); });
  }
  Result<std::vector<Origin>> origins(DocumentId id) override {
    return database_->read([&](Connection& connection) { return select_origins(connection, id); });
  }
  Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) override {
    return database_->read([&](Connection& connection) { return select_heads(connection, ids); });
  }
  Result<std::vector<std::uint64_t>> lines(DocumentId id, std::span<const std::uint64_t> bytes) override {
    return database_->read([&](Connection& connection) { return select_lines(connection, id, bytes); });
  }

  Result<std::vector<StoredChunk>> chunks(IndexId index, std::span<const ChunkId> ids) override {
    return database_->read([&](Connection& connection) -> Result<std::vector<StoredChunk>> {
      TRY(const IndexInfo info, index_numbered(connection, index));
      return select_chunks(connection, info, ids);
    });
  }
  Result<void> each_chunk(IndexId index, ChunkId after, const ChunkVisitor& visit) override {
    return database_->viewed([&](Connection& connection) -> Result<void> {
      TRY(const IndexInfo info, index_numbered(connection, index));
      return walk_chunks(connection, info, after, visit);
    });
  }
  Result<std::optional<std::vector<Removed>>> removed_since(IndexId index, Revision revision) override {
    return database_->read(
        [&](Connection& connection) { return select_removed(connection, index, revision); });
  }
  Result<std::vector<ChunkId>> living(IndexId index) override {
    return database_->read([&](Connection& connection) { return select_living(connection, index); });
  }

  Result<std::vector<std::string>> verify(IndexId index) override {
    return database_->viewed([&](Connection& connection) -> Result<std::vector<std::string>> {
      TRY(const IndexInfo info, index_numbered(connection, index));
      return find_document_faults(connection, info);
    });
  }

  // The server itself uses free space again.
  Result<void> compact() override {
    sweep();
    return {};
  }

  // Removes what is left of removed indexes. What remains, as the server is away, is done the next time.
  void sweep() {
    while (database_->written(sweep_dropped).value_or(false)) {
    }
  }

 private:
  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_documents(const Options& options) {
  TRY(auto database, Database::open(options));
  auto store = std::make_unique<PostgresDocuments>(std::move(database));
  store->sweep();
  return store;
}

Result<std::vector<IndexId>> index_ids(const Options& options) {
  TRY(const auto database, Database::open(options));
  return database->read([](Connection& connection) -> Result<std::vector<IndexId>> {
    TRY(const Rows rows, connection.run("SELECT id FROM indexes"));
    std::vector<IndexId> out;
    for (int row = 0; row < rows.count(); ++row) out.push_back(rows.integer(row, 0));
    return out;
  });
}

Result<std::string> store_identity(const Options& options) {
  TRY(const auto database, Database::open(options));
  return database->read([](Connection& connection) -> Result<std::string> {
    TRY(const Rows rows, connection.run("SELECT id FROM store_identity"));
    if (rows.count() != 1) return fail(Errc::damaged, "the table store_identity has {} rows", rows.count());
    return rows.text(0, 0);
  });
}

}  // namespace plimsoll::postgres
