#include "adapters/postgres/connection.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include <poll.h>

#include "base/try.hpp"

namespace plimsoll::postgres {
namespace {

// Numbers of types, as PostgreSQL's catalogue has them forever.
constexpr std::uint32_t type_bytea = 17, type_bigint = 20, type_text = 25;

template <typename Whole>
void append_network_order(std::string& out, Whole value) {
  for (int shift = static_cast<int>(sizeof(Whole)) * 8 - 8; shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<std::make_unsigned_t<Whole>>(value) >> shift & 0xFF);
}

std::uint64_t read_network_order(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

std::string array_head(std::size_t count, std::uint32_t type) {
  std::string out;
  append_network_order<std::uint32_t>(out, count == 0 ? 0 : 1);  // dimensions
  append_network_order<std::uint32_t>(out, 0);                   // no nulls
  append_network_order<std::uint32_t>(out, type);
  if (count == 0) return out;
  append_network_order(out, static_cast<std::uint32_t>(count));
  append_network_order<std::uint32_t>(out, 1);  // number of the first
  return out;
}

// The server is starting, stopping or full.
bool is_away(std::string_view state) {
  return state.starts_with("08") || state.starts_with("57P") || state == "53300";
}

}  // namespace

Values& Values::keep(std::string bytes) {
  const std::string& kept = kept_.emplace_back(std::move(bytes));
  values_.push_back(kept.data());
  lengths_.push_back(static_cast<int>(kept.size()));
  return *this;
}

Values& Values::add(std::int64_t value) {
  std::string bytes;
  append_network_order(bytes, value);
  return keep(std::move(bytes));
}

Values& Values::add(double value) {
  return add(std::bit_cast<std::int64_t>(value));
}

Values& Values::add(bool value) {
  return keep(std::string(1, value ? '\1' : '\0'));
}

Values& Values::add(std::string_view bytes) {
  values_.push_back(bytes.data() != nullptr ? bytes.data() : "");
  lengths_.push_back(static_cast<int>(bytes.size()));
  return *this;
}

Values& Values::add_null() {
  values_.push_back(nullptr);
  lengths_.push_back(0);
  return *this;
}

Values& Values::add(std::span<const std::int64_t> values) {
  std::string out = array_head(values.size(), type_bigint);
  for (const std::int64_t value : values) {
    append_network_order<std::uint32_t>(out, sizeof value);
    append_network_order(out, value);
  }
  return keep(std::move(out));
}

Values& Values::add_list(std::span<const std::string_view> items, std::uint32_t type) {
  std::string out = array_head(items.size(), type);
  for (const std::string_view item : items) {
    append_network_order(out, static_cast<std::uint32_t>(item.size()));
    out += item;
  }
  return keep(std::move(out));
}

Values& Values::add_texts(std::span<const std::string_view> texts) {
  return add_list(texts, type_text);
}

Values& Values::add_blobs(std::span<const std::string_view> blobs) {
  return add_list(blobs, type_bytea);
}

std::int64_t Rows::changed() const {
  const std::string_view count = result_ ? PQcmdTuples(result_.get()) : "";
  std::int64_t out = 0;
  for (const char c : count) out = out * 10 + (c - '0');
  return out;
}

std::int64_t Rows::integer(int row, int column) const {
  return static_cast<std::int64_t>(read_network_order(bytes(row, column)));
}

double Rows::real(int row, int column) const {
  return std::bit_cast<double>(integer(row, column));
}

std::string_view Rows::bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

Result<std::unique_ptr<Connection>> Connection::open(const Options& options, const Address& address) {
  // What the URL says comes later in the list, and wins.
  const std::string seconds = std::to_string(std::max<std::int64_t>(2, options.wait.count() / 1'000));
  const std::string milliseconds = std::to_string(options.statement.count());
  const char* const names[] = {"connect_timeout", "tcp_user_timeout", "fallback_application_name",
                               "client_encoding", "dbname",           nullptr};
  const char* const values[] = {seconds.c_str(), milliseconds.c_str(),         "plimsoll",
                                "UTF8",          options.url.reveal().c_str(), nullptr};
  std::unique_ptr<Connection> made(
      new Connection(PQconnectdbParams(names, values, /*expand_dbname=*/1), options, address));
  if (PQstatus(made->handle_) != CONNECTION_OK)
    return fail(Errc::unreachable, "the store at {} cannot be reached: {}", address.shown,
                safe_text(address, PQerrorMessage(made->handle_)));
  if (PQserverVersion(made->handle_) < 130'000)
    return fail(Errc::unsupported, "the store at {} is PostgreSQL {}: version 13 or newer is needed",
                address.shown, PQserverVersion(made->handle_) / 10'000);
  PQsetnonblocking(made->handle_, 1);
  PQsetNoticeProcessor(
      made->handle_, [](void*, const char*) {}, nullptr);
  // A gateway that hangs must not keep what it has locked.
  TRY_VOID(made->execute(
      fmt::format("SET search_path TO \"{}\"; SET statement_timeout = {}; SET lock_timeout = {}; "
                  "SET idle_in_transaction_session_timeout = {}",
                  options.schema, options.statement.count(), options.statement.count() / 2,
                  2 * options.statement.count())));
  return made;
}

Connection::~Connection() {
  PQfinish(handle_);
}

bool Connection::is_alive() {
  if (is_lost_ || PQstatus(handle_) != CONNECTION_OK) return false;
  // What comes without a question says that the server ends the connection: nothing else is sent, as we
  // listen to no channel.
  pollfd waiting{PQsocket(handle_), POLLIN, 0};
  return is_in_transaction() || ::poll(&waiting, 1, 0) <= 0;
}

tl::unexpected<Error> Connection::lost(std::string_view why) {
  is_lost_ = true;
  return fail(Errc::unreachable, "the connection to the store at {} was lost: {}", address_.shown, why);
}

tl::unexpected<Error> Connection::refused(const PGresult* result) {
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view state = field != nullptr ? field : "";
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string why = safe_text(address_, primary != nullptr ? primary : PQresultErrorMessage(result));
  had_conflict_ = state == "40001" || state == "40P01";
  if (state.empty() || is_away(state) || PQstatus(handle_) != CONNECTION_OK) return lost(why);
  if (state == "55P03")
    return fail(Errc::unreachable,
                "the store at {} is busy: others change the same for too long; try again later",
                address_.shown);
  if (state == "22021" || state == "22P05")
    return fail(Errc::bad_input, "a name is not text: it has a zero byte or is not UTF-8");
  return fail(Errc::io_failed, "the store at {} refused: {} (SQLSTATE {})", address_.shown, why, state);
}

bool Connection::wait_for_reply() {
  const auto until = std::chrono::steady_clock::now() + patience_;
  while (true) {
    const int flushed = PQflush(handle_);
    if (flushed < 0) return false;
    if (flushed == 0 && PQisBusy(handle_) == 0) return true;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{PQsocket(handle_), static_cast<short>(flushed == 1 ? POLLIN | POLLOUT : POLLIN), 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && PQconsumeInput(handle_) == 0) return false;
  }
}

Result<Rows> Connection::received() {
  Result<Rows> out;
  while (true) {
    if (!wait_for_reply()) {
      const bool is_bad = PQstatus(handle_) != CONNECTION_OK;
      return lost(is_bad ? safe_text(address_, PQerrorMessage(handle_))
                         : fmt::format("no reply within {} s", patience_.count() / 1'000));
    }
    PGresult* result = PQgetResult(handle_);
    if (result == nullptr) return out;
    Rows rows(result);
    const auto status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
      out = refused(result);
    else if (out)
      out = std::move(rows);
    if (is_lost_) return out;
  }
}

Result<std::string> Connection::prepared(std::string_view sql) {
  const auto known = prepared_.find(std::string(sql));
  if (known != prepared_.end()) return known->second;
  const std::string text(sql);
  std::string name = fmt::format("p{}", prepared_.size());
  if (PQsendPrepare(handle_, name.c_str(), text.c_str(), 0, nullptr) == 0)
    return lost(safe_text(address_, PQerrorMessage(handle_)));
  TRY_VOID(received());
  prepared_.emplace(text, name);
  return name;
}

Result<Rows> Connection::run(std::string_view sql, const Values& values) {
  had_conflict_ = false;
  TRY(const std::string name, prepared(sql));
  const std::vector<int> binary(values.values_.size(), 1);
  if (PQsendQueryPrepared(handle_, name.c_str(), static_cast<int>(values.values_.size()),
                          values.values_.data(), values.lengths_.data(), binary.data(),
                          /*resultFormat=*/1) == 0)
    return lost(safe_text(address_, PQerrorMessage(handle_)));
  return received();
}

Result<void> Connection::execute(const std::string& sql) {
  had_conflict_ = false;
  if (PQsendQuery(handle_, sql.c_str()) == 0) return lost(safe_text(address_, PQerrorMessage(handle_)));
  TRY_VOID(received());
  return {};
}

}  // namespace plimsoll::postgres
