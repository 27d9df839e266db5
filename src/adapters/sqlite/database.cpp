#include "adapters/sqlite/database.hpp"

#include <utility>

#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

// How long a writer waits for another process; after that the error says who is in the way.
constexpr int busy_milliseconds = 30'000;

}  // namespace

tl::unexpected<Error> failure(sqlite3* handle) {
  const char* file = sqlite3_db_filename(handle, nullptr);
  const std::string name = file != nullptr && *file != '\0' ? file : "the store";
  const int code = sqlite3_errcode(handle) & 0xff;
  switch (code) {
    case SQLITE_FULL:
      return fail(Errc::io_failed,
                  "{}: the disk is full; nothing of this step was written. Free some room and repeat it",
                  name);
    case SQLITE_READONLY:
      return fail(
          Errc::io_failed,
          "{}: the store can only be read; nothing was changed. Make the file and its folder writable", name);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(Errc::io_failed,
                  "{}: another process has been writing for {} s; nothing was changed. Try again later", name,
                  busy_milliseconds / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(Errc::damaged,
                  "{}: this is no sound store ({}). Put a copy back, or move it away and index anew", name,
                  sqlite3_errmsg(handle));
    case SQLITE_CANTOPEN:
      return fail(Errc::io_failed, "{}: cannot be opened; is its folder there, and may you write to it?",
                  name);
    default: return fail(Errc::io_failed, "{}: {}", name, sqlite3_errmsg(handle));
  }
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

// Binding fails only for a parameter that does not exist, or when memory runs out: the step then says so.
Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++next_, value);
  return *this;
}

Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_, ++next_, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text64(statement_, ++next_, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> blob) {
  if (blob.empty()) {
    sqlite3_bind_zeroblob(statement_, ++next_, 0);
  } else {
    sqlite3_bind_blob64(statement_, ++next_, blob.data(), blob.size(), SQLITE_STATIC);
  }
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, ++next_);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_));
}

Result<void> Statement::run() {
  TRY(auto more, step());
  while (more) {
    TRY(auto next, step());
    more = next;
  }
  return {};
}

void Statement::again() {
  sqlite3_reset(statement_);
  next_ = 0;
}

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& path, Mode mode) {
  std::unique_ptr<Connection> connection(new Connection);
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  std::string name = path.string();
  if (mode == Mode::write) {
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  } else {
    flags |= SQLITE_OPEN_READONLY;
  }
  if (mode == Mode::unchanging) {
    flags |= SQLITE_OPEN_URI;
    std::string escaped;
    for (const char c : name) {
      if (c == '%' || c == '?' || c == '#') {
        escaped += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      } else {
        escaped += c;
      }
    }
    name = "file:" + escaped + "?immutable=1";
  }
  if (sqlite3_open_v2(name.c_str(), &connection->handle_, flags, nullptr) != SQLITE_OK) {
    if (connection->handle_ == nullptr)
      return fail(Errc::io_failed, "{}: no memory to open it", path.string());
    return fail(Errc::io_failed, "{}: {}; is its folder there, and may you read and write it?", path.string(),
                sqlite3_errmsg(connection->handle_));
  }
  sqlite3_busy_timeout(connection->handle_, busy_milliseconds);
  TRY_VOID(
      connection->execute("PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;"
                          "PRAGMA mmap_size = 1073741824"));
  // A commit is on disk before it is answered, and what is deleted is overwritten. EXTRA: the journal of the
  // step that makes a new file keep a log is gone from the disk too; brought back by a loss of power, it
  // would take back that step, and with it all that the log holds.
  if (mode == Mode::write)
    TRY_VOID(connection->execute("PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON"));
  return connection;
}

Connection::~Connection() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

bool Connection::empty_log(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle_, busy_milliseconds);
  return code == SQLITE_OK;
}

Result<void> Connection::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(handle_);
  return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
  auto [place, is_new] = statements_.try_emplace(std::string(sql), nullptr);
  if (is_new && sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                   SQLITE_PREPARE_PERSISTENT, &place->second, nullptr) != SQLITE_OK) {
    statements_.erase(place);
    return failure(handle_);
  }
  return Statement(place->second);
}

Result<Transaction> Transaction::begin(Connection& connection) {
  TRY_VOID(connection.execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Transaction::~Transaction() {
  if (connection_ != nullptr) (void)connection_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  TRY_VOID(connection_->execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

ConnectionPool::Lease::~Lease() {
  if (!connection_) return;
  const std::lock_guard lock(pool_.mutex_);
  pool_.idle_.push_back(std::move(connection_));
}

Result<ConnectionPool::Lease> ConnectionPool::lease() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(connection));
    }
  }
  TRY(auto connection, Connection::open(path_, mode_));
  return Lease(*this, std::move(connection));
}

}  // namespace plimsoll::sqlite
