#include "gateway/client_line.hpp"

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

// Most requests fit, and a thousand idle clients are four megabytes.
constexpr std::size_t ahead_bytes = std::size_t{4} << 10;

}  // namespace

struct ClientLine::Tls {
  Tls(asio::ip::tcp::socket& socket, asio::ssl::context& context) : stream(socket, context) {}
  asio::ssl::stream<asio::ip::tcp::socket&> stream;
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

void ClientLine::receive(std::size_t room) {
  receiving_ = true;
  auto then = [self = shared_from_this()](const IoError& error, std::size_t bytes) {
    self->arrived(error, bytes);
  };
  if (tls_)
    tls_->stream.async_read_some(held_.prepare(room), std::move(then));
  else
    socket_.async_receive(held_.prepare(room), std::move(then));
}

void ClientLine::arrived(const IoError& error, std::size_t bytes) {
  receiving_ = false;
  has_news_ = true;
  error_ = error;
  held_.commit(bytes);
  if (waiter_) {
    std::exchange(waiter_, nullptr)->resume();
  } else if (error) {
    is_gone_ = true;
    gone_.emit(asio::cancellation_type::terminal);
  }
}

void ClientLine::read_ahead() {
  if (receiving_ || has_news_ || held_.size() > 0) return;
  if (held_.capacity() > ahead_bytes) held_.shrink_to_fit();  // a large request has passed
  receive(ahead_bytes);
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
  if (!receiving_ && !has_news_) receive(std::max(room, ahead_bytes));
  if (!has_news_) co_await until_arrived();
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
  if (now < deadline_) return;
  expires_never();
  expired_ = true;
  IoError ignored;
  if (waiter_)
    socket_.cancel(ignored);  // the client can still be told
  else
    close();
}

void ClientLine::shut_down_sending() {
  IoError ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void ClientLine::close() {
  IoError ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace plimsoll::gateway
