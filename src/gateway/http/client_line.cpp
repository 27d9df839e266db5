#include "gateway/http/client_line.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace plimsoll::gateway {

namespace asio = boost::asio;

namespace {

// Most requests fit. Allocated only while there is something to read: idle clients use no memory.
constexpr std::size_t ahead_bytes = std::size_t{4} << 10;

// Most bytes that a client may send while its request is answered.
constexpr std::size_t most_ahead_bytes = std::size_t{64} << 10;

// Size of a TLS record.
constexpr std::size_t record_bytes = std::size_t{16} << 10;

constexpr std::string_view are_you_there = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

struct ClientLine::Tls {
  Tls(asio::ip::tcp::socket& socket, asio::ssl::context& context) : stream(socket, context) {}
  asio::ssl::stream<asio::ip::tcp::socket&> stream;
  std::unique_ptr<char[]> landing;  // buffer of a running read
};

ClientLine::ClientLine(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : socket_(std::move(socket)), tls_(tls != nullptr ? std::make_unique<Tls>(socket_, *tls) : nullptr) {
  IoError ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
}

ClientLine::~ClientLine() = default;

Awaitable<ClientLine::IoError> ClientLine::greet() {
  if (!tls_) co_return IoError();
  const auto [error] = co_await tls_->stream.async_handshake(asio::ssl::stream_base::server,
                                                             asio::as_tuple(asio::use_awaitable));
  co_return error;
}

// A plain socket needs no buffer while waiting; TLS needs one for decryption.
void ClientLine::receive() {
  receiving_ = true;
  if (!tls_) {
    socket_.async_wait(asio::ip::tcp::socket::wait_read,
                       [self = shared_from_this()](const IoError& error) { self->is_readable(error); });
    return;
  }
  const std::size_t size = std::min(room_, record_bytes);
  tls_->landing = std::make_unique_for_overwrite<char[]>(size);
  tls_->stream.async_read_some(
      asio::buffer(tls_->landing.get(), size),
      [self = shared_from_this()](const IoError& error, std::size_t bytes) {
        self->receiving_ = false;
        self->held_.commit(asio::buffer_copy(self->held_.prepare(bytes),
                                             asio::const_buffer(self->tls_->landing.get(), bytes)));
        self->tls_->landing.reset();
        self->arrived(error);
      });
}

void ClientLine::is_readable(IoError error) {
  receiving_ = false;
  if (!error) held_.commit(socket_.read_some(held_.prepare(room_), error));
  if (error == asio::error::would_block)
    receive();
  else
    arrived(error);
}

void ClientLine::arrived(const IoError& error) {
  has_news_ = true;
  error_ = error;
  ended_ = ended_ || (error && error != asio::error::operation_aborted);
  if (waiter_)
    std::exchange(waiter_, nullptr)->resume();
  else if (watching_)
    watch_answered(error);
}

// Handles data or an end while a request is answered.
void ClientLine::watch_answered(const IoError& error) {
  if (error == asio::error::eof && !tls_) return ended_sending();
  if (error) return left();
  flooded_ = flooded_ || held_.size() > most_ahead_bytes;
  if (flooded_) held_.consume(held_.size());
  receive();
}

void ClientLine::ended_sending() {
  if (when_ended_ == Ended::is_gone) return left();
  watch_for_reset();
  if (when_ended_ == Ended::will_show) return;
  // A client that closes after it has read this shows it only when it is written to once more.
  constexpr std::chrono::seconds until_asked_again{1};
  ask_at_ = Clock::now() + until_asked_again;
  IoError error;
  const std::size_t said = socket_.write_some(asio::buffer(are_you_there), error);
  if (error == asio::error::would_block || error == asio::error::try_again) return;  // a slow reader
  if (error || said < are_you_there.size()) left();
}

void ClientLine::watch_for_reset() {
  socket_.async_wait(asio::ip::tcp::socket::wait_error, [self = shared_from_this()](const IoError& error) {
    if (error != asio::error::operation_aborted) self->left();
  });
}

void ClientLine::left() {
  if (std::exchange(is_gone_, true)) return;
  gone_.emit(asio::cancellation_type::terminal);
}

void ClientLine::read_ahead() {
  watching_ = true;
  constexpr std::chrono::milliseconds until_asked{200};  // a quick answer shows it, too
  if (ended_ && !is_gone_ && !tls_ && when_ended_ == Ended::ask) ask_at_ = Clock::now() + until_asked;
  if (held_.size() == 0) held_.shrink_to_fit();
  room_ = ahead_bytes;
  if (!receiving_ && !ended_) receive();
}

Awaitable<void> ClientLine::until_arrived() {
  auto initiate = [this](auto handler) {
    struct Held final : Waiter {
      explicit Held(decltype(handler)&& one) : waiting(std::move(one)) {}
      void resume() override { std::move(waiting)(); }
      decltype(handler) waiting;
    };
    waiter_ = std::make_unique<Held>(std::move(handler));
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, asio::use_awaitable);
}

Awaitable<ClientLine::IoError> ClientLine::read_more(std::size_t room) {
  watching_ = false;
  ask_at_ = Clock::time_point::max();
  room_ = std::max(room, ahead_bytes);
  if (!receiving_ && !has_news_ && !ended_) receive();
  if (!has_news_ && !ended_) co_await until_arrived();
  has_news_ = false;
  if (expired_) co_return asio::error::timed_out;
  co_return error_;
}

Awaitable<ClientLine::IoError> ClientLine::write(Parts parts) {
  IoError error = is_gone_ ? IoError(asio::error::eof) : IoError();
  if (error) co_return error;
  if (tls_) {
    const auto [broken, sent] =
        co_await asio::async_write(tls_->stream, parts, asio::as_tuple(asio::use_awaitable));
    co_return broken;
  }
  std::size_t written = socket_.write_some(parts, error);
  if (error == asio::error::would_block) error = {};
  if (error) co_return error;
  for (asio::const_buffer& part : parts) {
    const std::size_t of_part = std::min(written, part.size());
    part += of_part;
    written -= of_part;
  }
  if (asio::buffer_size(parts) == 0) co_return error;
  const auto [failed, rest] = co_await asio::async_write(socket_, parts, asio::as_tuple(asio::use_awaitable));
  co_return failed;
}

void ClientLine::sweep(Clock::time_point now) {
  if (now >= ask_at_ && watching_ && !is_gone_ && when_ended_ == Ended::ask) ended_sending();
  if (now < deadline_) return;
  expires_never();
  expired_ = true;
  IoError ignored;
  if (waiter_)
    socket_.cancel(ignored);  // the client can still get an answer
  else
    close();
}

Awaitable<void> ClientLine::end_sending() {
  IoError ignored;
  watching_ = false;
  if (tls_ && !is_gone_) co_await tls_->stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void ClientLine::close() {
  IoError ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace plimsoll::gateway
