// libpq as this adapter uses it: one connection, prepared statements in binary format, errors as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <libpq-fe.h>

#include "adapters/postgres/address.hpp"
#include "adapters/postgres/options.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::postgres {

// The parameters of a statement, in order. Text and bytes must live until the statement has run. The server
// takes the type from the place where a parameter is used: bigint, double precision, boolean, text or bytea.
class Values {
 public:
  Values& add(std::int64_t value);
  Values& add(double value);
  Values& add(bool value);
  Values& add(std::string_view bytes);
  Values& add(const char*) = delete;  // would be taken for a boolean
  Values& add_null();
  // Arrays: bigint[], text[] and bytea[].
  Values& add(std::span<const std::int64_t> values);
  Values& add_texts(std::span<const std::string_view> texts);
  Values& add_blobs(std::span<const std::string_view> blobs);

 private:
  friend class Connection;
  Values& keep(std::string bytes);
  Values& add_list(std::span<const std::string_view> items, std::uint32_t type);

  std::deque<std::string> kept_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
};

// What a statement returned.
class Rows {
 public:
  Rows() = default;
  explicit Rows(PGresult* result) : result_(result) {}

  int count() const { return result_ ? PQntuples(result_.get()) : 0; }
  bool empty() const { return count() == 0; }
  std::int64_t changed() const;  // rows that were inserted, updated or deleted

  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::int64_t integer(int row, int column) const;  // of a bigint; 0: null
  double real(int row, int column) const;           // of a double precision
  bool boolean(int row, int column) const { return *PQgetvalue(result_.get(), row, column) != 0; }
  std::string_view bytes(int row, int column) const;  // of text or bytea
  std::string text(int row, int column) const { return std::string(bytes(row, column)); }

 private:
  struct Free {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Free> result_;
};

// Used by one thread at a time.
class Connection {
 public:
  // unreachable: the server cannot be reached, or does not let us in.
  static Result<std::unique_ptr<Connection>> open(const Options& options, const Address& address);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs a statement, which is prepared once for each text. unreachable: the connection was lost or there was
  // no reply in time. bad_input: a text is not UTF-8 or has a zero byte. io_failed: the server refused.
  Result<Rows> run(std::string_view sql, const Values& values = {});
  // Runs several statements without parameters.
  Result<void> execute(const std::string& sql);

  // False: the server has closed it, or it failed. Does not ask the server.
  bool is_alive();
  bool is_in_transaction() const { return PQtransactionStatus(handle_) != PQTRANS_IDLE; }
  // Whether the last failure was a conflict with another transaction, so that it may succeed when repeated.
  bool had_conflict() const { return had_conflict_; }

 private:
  Connection(PGconn* handle, const Options& options, const Address& address)
      : handle_(handle), address_(address), patience_(options.statement) {}

  Result<std::string> prepared(std::string_view sql);
  Result<Rows> received();
  bool wait_for_reply();
  tl::unexpected<Error> lost(std::string_view why);
  tl::unexpected<Error> refused(const PGresult* result);

  PGconn* handle_;
  Address address_;
  std::chrono::milliseconds patience_;
  bool is_lost_ = false, had_conflict_ = false;
  std::unordered_map<std::string, std::string> prepared_;  // names by text
};

}  // namespace plimsoll::postgres
