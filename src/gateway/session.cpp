#include "gateway/session.hpp"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/log.hpp"
#include "engine/annotate.hpp"
#include "gateway/target.hpp"

namespace plimsoll::gateway {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::as_tuple;
using asio::use_awaitable;

// Why a request could not be read, as a status; 0: the client is gone, and nobody is there to be told.
int status_for(const beast::error_code& error, bool begun) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == beast::error::timeout) return begun ? 408 : 0;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

std::string explain(int status, const beast::error_code& error, const ServerOptions& options) {
  switch (status) {
    case 431:
      return fmt::format("the header of the request is longer than {} bytes", options.max_header_bytes);
    case 413:
      return fmt::format("the request is longer than {} bytes (max_request_bytes)",
                         options.max_request_bytes);
    case 408:
      return fmt::format("the request did not arrive within {} s (idle_timeout_seconds)",
                         std::chrono::duration<double>(options.idle).count());
    default: return fmt::format("this is no request that HTTP knows: {}", error.message());
  }
}

ClientRequest taken(http::request<http::string_body>& message) {
  ClientRequest request;
  request.method = message.method_string();
  const Target target = split_target(message.target());
  request.path = target.path;
  request.query = target.query;
  request.content_type = message[http::field::content_type];
  request.body = std::move(message.body());
  return request;
}

}  // namespace

Session::Session(asio::ip::tcp::socket socket, Berths& berths) : stream_(std::move(socket)), berths_(berths) {
  berths_.sessions.insert(this);
}

Session::~Session() {
  berths_.sessions.erase(this);
  berths_.connections.fetch_sub(1);
}

void Session::close() {
  beast::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.socket().close(ignored);
}

void Session::close_if_idle() {
  if (!busy_) close();
}

Awaitable<void> Session::run() {
  while (co_await serve_one() == Next::request && !berths_.draining) {
  }
  beast::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

Awaitable<void> Session::refuse(int status, const std::string& what) {
  SocketReply reply(stream_, berths_.crew, berths_.options.idle, {.keeps_open = false});
  const Error error{Errc::bad_input, what};
  const std::string body = engine::error_body(error);
  engine::AnswerHead head;
  head.status = status;
  head.length = body.size();
  (void)co_await reply.head(head);
  (void)co_await reply.body(body);
}

Awaitable<Session::Next> Session::serve_one() {
  const ServerOptions& options = berths_.options;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(options.max_header_bytes));
  parser.body_limit(options.max_request_bytes);
  busy_ = false;
  stream_.expires_after(buffer_.size() > 0 ? options.idle : options.kept_open);
  if (const auto [error, n] =
          co_await http::async_read_header(stream_, buffer_, parser, as_tuple(use_awaitable));
      error) {
    if (const int status = status_for(error, parser.got_some()))
      co_await refuse(status, explain(status, error, options));
    co_return Next::nothing;
  }
  busy_ = true;
  if (!parser.is_done()) {
    if (beast::iequals(parser.get()[http::field::expect], "100-continue"))
      co_await asio::async_write(stream_, asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25),
                                 as_tuple(use_awaitable));
    stream_.expires_after(options.idle);
    if (const auto [error, n] = co_await http::async_read(stream_, buffer_, parser, as_tuple(use_awaitable));
        error) {
      if (const int status = status_for(error, true))
        co_await refuse(status, explain(status, error, options));
      co_return Next::nothing;
    }
  }
  stream_.expires_never();
  http::request<http::string_body> message = parser.release();
  SocketReply::Manner manner;
  manner.keeps_open = message.keep_alive() && !berths_.draining;
  manner.is_head = message.method() == http::verb::head;
  manner.old_http = message.version() < 11;
  SocketReply reply(stream_, berths_.crew, options.idle, manner);
  ClientRequest request = taken(message);
  if (manner.is_head) request.method = "GET";
  {
    using namespace asio::experimental::awaitable_operators;
    co_await (handle(request, reply) || until_gone());
  }
  (void)co_await reply.finish();
  co_return reply.keeps_open() && reply.is_begun() ? Next::request : Next::nothing;
}

// Cancelled when the client goes away: then nothing throws, every wait ends with an error, and the upstream's
// connection is closed on the way out.
Awaitable<void> Session::handle(ClientRequest& request, SocketReply& reply) {
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    co_await berths_.handler(berths_.crew, request, reply);
  } catch (const std::exception& bug) {
    log::error("a handler threw", {{"path", request.path}, {"what", bug.what()}});
  }
  const auto state = co_await asio::this_coro::cancellation_state;
  if (reply.is_begun() || state.cancelled() != asio::cancellation_type::none) co_return;
  const std::string body =
      engine::error_body({Errc::io_failed, "this should not have happened; the log says more"});
  engine::AnswerHead head;
  head.status = 500;
  head.length = body.size();
  (void)co_await reply.head(head);
  (void)co_await reply.body(body);
}

// Ends when the client has closed its side. Bytes of a next request say nothing: then nobody can tell.
Awaitable<void> Session::until_gone() {
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::ip::tcp::socket& socket = stream_.socket();
  const auto [error] = co_await socket.async_wait(asio::ip::tcp::socket::wait_read, as_tuple(use_awaitable));
  if (error) co_return;
  char byte = 0;
  const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got <= 0) co_return;
  asio::steady_timer never(socket.get_executor(), asio::steady_timer::time_point::max());
  co_await never.async_wait(as_tuple(use_awaitable));
}

}  // namespace plimsoll::gateway
