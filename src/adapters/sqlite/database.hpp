// SQLite as this adapter uses it: connections and statements that close themselves, errors as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sqlite3.h>

#include "plimsoll/result.hpp"

namespace plimsoll::sqlite {

// A prepared statement, in use. Giving it up resets it, and it stays with its connection.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Parameters in order, from the first. Text and blobs must live until the statement is given up.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind(std::span<const std::byte> blob);
  Statement& bind_null();

  // True: a row stands ready. False: there are no more.
  Result<bool> step();
  // For statements without rows.
  Result<void> run();
  // To be bound and run again.
  void again();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string_view text(int column) const;            // valid until the next step
  std::span<const std::byte> blob(int column) const;  // likewise

 private:
  sqlite3_stmt* statement_;
  int next_ = 0;
};

class Connection {
 public:
  enum class Mode : std::uint8_t { write, read, unchanging };
  // io_failed says what the system did not allow.
  static Result<std::unique_ptr<Connection>> open(const std::filesystem::path& path, Mode mode);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Several statements without parameters.
  Result<void> execute(const char* sql);
  // The same text gives the same statement, prepared once. Not to be asked for twice at a time.
  Result<Statement> prepare(std::string_view sql);
  std::int64_t last_id() const { return sqlite3_last_insert_rowid(handle_); }
  std::int64_t changes() const { return sqlite3_changes64(handle_); }
  sqlite3* handle() { return handle_; }
  // Takes the write-ahead log into the file and cuts it to nothing. False: somebody was reading or writing
  // all that time.
  bool empty_log(std::chrono::milliseconds patience);

 private:
  Connection() = default;

  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

// What the handle last failed at, with what to do about it.
tl::unexpected<Error> failure(sqlite3* handle);

// A write that is taken back unless it was committed.
class Transaction {
 public:
  static Result<Transaction> begin(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}

  Connection* connection_;
};

// Connections that are not in use. Any thread may lease one.
class ConnectionPool {
 public:
  ConnectionPool(std::filesystem::path path, Connection::Mode mode) : path_(std::move(path)), mode_(mode) {}

  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(pool), connection_(std::move(connection)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Connection* operator->() { return connection_.get(); }
    Connection& operator*() { return *connection_; }

   private:
    ConnectionPool& pool_;
    std::unique_ptr<Connection> connection_;
  };
  Result<Lease> lease();

 private:
  std::filesystem::path path_;
  Connection::Mode mode_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace plimsoll::sqlite
