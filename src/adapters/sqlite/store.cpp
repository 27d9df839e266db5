#include "adapters/sqlite/store.hpp"

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/shared_database.hpp"
#include "base/documents/stored_document.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<IndexInfo> create_index(std::string_view owner, std::string_view name,
                                 const IndexSettings& settings) override {
    return database_->written(
        [&](Connection& connection) { return insert_index(connection, owner, name, settings); });
  }

  Result<IndexInfo> find_index(std::string_view owner, std::string_view name) override {
    return database_->viewed([&](Connection& connection) { return index_named(connection, owner, name); });
  }

  // Asked at every question; a single statement sees one state of the store by itself.
  Result<IndexStamp> find_stamp(std::string_view owner, std::string_view name) override {
    TRY(auto connection, database_->lease());
    return stamp_named(*connection, owner, name);
  }

  Result<std::vector<IndexInfo>> indexes(std::string_view owner) override {
    return database_->viewed([&](Connection& connection) { return all_indexes(connection, owner); });
  }

  Result<void> remove_index(IndexId index) override {
    return database_->written([&](Connection& connection) { return delete_index(connection, index); });
  }

  Result<void> rename_index(IndexId index, std::string_view owner, std::string_view name) override {
    return database_->written(
        [&](Connection& connection) { return sqlite::rename_index(connection, index, owner, name); });
  }

  Result<std::vector<DocumentId>> put(IndexId index,
                                      std::span<const DocumentWithVectors> documents) override {
    return database_->written([&](Connection& connection) -> Result<std::vector<DocumentId>> {
      TRY(const Revision revision, bump(connection, index));
      TRY(const IndexInfo info, index_numbered(connection, index));
      std::vector<DocumentId> ids;
      for (const DocumentWithVectors& document : documents) {
        TRY(const DocumentId id, insert_document(connection, info, revision, document));
        ids.push_back(id);
      }
      TRY_VOID(forget_old_removals(connection, index));
      return ids;
    });
  }

  Result<std::vector<std::string>> remove(IndexId index, std::span<const std::string> keys) override {
    return database_->written([&](Connection& connection) -> Result<std::vector<std::string>> {
      TRY(const Revision revision, bump(connection, index));
      TRY(const IndexInfo info, index_numbered(connection, index));
      std::vector<std::string> removed;
      for (const std::string& key : keys) {
        TRY(const bool was_there, delete_document(connection, info, revision, key));
        if (was_there) removed.push_back(key);
      }
      TRY_VOID(forget_old_removals(connection, index));
      return removed;
    });
  }

  Result<void> compact() override {
    return database_->alone([](Connection& connection) { return vacuum(connection); });
  }

  Result<std::optional<DocumentHead>> head(IndexId index, std::string_view key) override {
    return database_->viewed([&](Connection& connection) { return select_head(connection, index, key); });
  }

  Result<std::vector<DocumentHead>> documents(IndexId index, const Filter& filter, DocumentId after,
                                              std::size_t limit) override {
    return database_->viewed(
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
    return database_->viewed(
        [&](Connection& connection) { return select_matching(connection, index, filter); });
  }

  Result<DocumentWithVectors> document(DocumentId id) override {
    return database_->viewed([&](Connection& connection) { return select_document(connection, id); });
  }

  Result<std::vector<Origin>> origins(DocumentId id) override {
    return database_->viewed([&](Connection& connection) { return select_origins(connection, id); });
  }

  Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) override {
    return database_->viewed([&](Connection& connection) { return select_heads(connection, ids); });
  }

  Result<std::vector<std::uint64_t>> lines(DocumentId id, std::span<const std::uint64_t> bytes) override {
    return database_->viewed([&](Connection& connection) { return select_lines(connection, id, bytes); });
  }

  Result<std::vector<StoredChunk>> chunks(IndexId index, std::span<const ChunkId> ids) override {
    return database_->viewed([&](Connection& connection) -> Result<std::vector<StoredChunk>> {
      TRY(const IndexInfo info, index_numbered(connection, index));
      std::vector<StoredChunk> out;
      for (const ChunkId id : ids) {
        TRY(auto chunk, select_chunk(connection, info.settings.embedders, id));
        if (chunk) out.push_back(*std::move(chunk));
      }
      return out;
    });
  }

  Result<void> each_chunk(IndexId index, ChunkId after, const ChunkVisitor& visit) override {
    return database_->viewed([&](Connection& connection) -> Result<void> {
      TRY(const IndexInfo info, index_numbered(connection, index));
      return walk_chunks(connection, info, after, visit);
    });
  }

  Result<std::optional<std::vector<Removed>>> removed_since(IndexId index, Revision revision) override {
    return database_->viewed([&](Connection& connection) -> Result<std::optional<std::vector<Removed>>> {
      TRY(auto known, connection.prepare("SELECT removals_since, revision FROM indexes WHERE id = ?"));
      TRY(const bool found, known.bind(index).step());
      if (!found) return base::index_is_gone();
      if (revision < known.integer(0) || revision > known.integer(1)) return std::nullopt;
      TRY(auto row, connection.prepare(
                        "SELECT first_chunk, last_chunk FROM removals WHERE index_id = ? AND revision > ?"));
      row.bind(index).bind(revision);
      std::vector<Removed> out;
      while (true) {
        TRY(const bool more, row.step());
        if (!more) return out;
        out.push_back({row.integer(0), row.integer(1)});
      }
    });
  }

  Result<std::vector<ChunkId>> living(IndexId index) override {
    return database_->viewed([&](Connection& connection) -> Result<std::vector<ChunkId>> {
      TRY(auto row, connection.prepare(
                        "SELECT first_chunk, chunks FROM documents WHERE index_id = ? ORDER BY first_chunk"));
      row.bind(index);
      std::vector<ChunkId> out;
      while (true) {
        TRY(const bool more, row.step());
        if (!more) return out;
        for (std::int64_t i = 0; i < row.integer(1); ++i) out.push_back(row.integer(0) + i);
      }
    });
  }

  Result<std::vector<std::string>> verify(IndexId index) override {
    return database_->viewed([&](Connection& connection) -> Result<std::vector<std::string>> {
      TRY(const IndexInfo info, index_numbered(connection, index));
      return find_faults(connection, info);
    });
  }

 private:
  const std::shared_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& file, const OpenOptions& options) {
  return open_as_allowed<SqliteStore>(file, options, "`plimsoll index add NAME PATH...` makes one",
                                      [](Store& store) { return store.indexes("local").has_value(); });
}

}  // namespace plimsoll::sqlite
