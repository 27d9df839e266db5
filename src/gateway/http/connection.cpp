#include "gateway/http/connection.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/string.hpp>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/text/trace_context.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/content_coding.hpp"
#include "gateway/http/request_head.hpp"
#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// A body is read in steps of this size.
constexpr std::size_t body_step = std::size_t{64} << 10;

// Time for the first request of a client that connected just before the shutdown.
constexpr std::chrono::milliseconds grace{1'000};

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

// Most empty lines before a request; some clients send them after a body.
constexpr int most_blank_lines = 4;

// Returns the status for a request that could not be read; 0: the client has disconnected.
int status_for(const beast::error_code& error, bool begun) {
  if (error == http::error::body_limit) return 413;
  if (error == asio::error::timed_out) return begun ? 408 : 0;
  return error.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

std::string explain(int status, const beast::error_code& error, const ServerOptions& options) {
  switch (status) {
    case 413:
      return fmt::format("the request is longer than {} bytes (max_request_bytes)",
                         options.max_request_bytes);
    case 408:
      return fmt::format("the request did not arrive within {} s (idle_timeout_seconds); send it again",
                         std::chrono::duration<double>(options.idle).count());
    default: return fmt::format("not a valid HTTP request: {}", error.message());
  }
}

std::string_view text_of(const beast::flat_buffer& held) {
  return {static_cast<const char*>(held.data().data()), held.size()};
}

// Returns the key from "Bearer KEY", or from a header with only the key. Other contents, such as the name and
// password of a proxy, are not keys.
std::string key_in(const http::request<http::string_body>& message) {
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = message[http::field::authorization];
  if (base::to_lower_ascii(given.substr(0, scheme.size())) == scheme)
    return std::string(base::trim(given.substr(scheme.size())));
  for (const char* name : {"X-API-Key", "api-key"})
    if (const std::string_view key = base::trim(std::string_view(message[name])); !key.empty())
      return std::string(key);
  return {};
}

// Returns the values of all headers of this name.
std::string joined(const http::request<http::string_body>& message, std::string_view name) {
  std::string values;
  for (auto [at, end] = message.equal_range(name); at != end; ++at)
    values.append(values.empty() ? "" : ",").append(at->value());
  return values;
}

// Returns the request without its body.
ClientRequest head_of(const http::request<http::string_body>& message, bool from_here) {
  ClientRequest request;
  request.from_here = from_here;
  request.method = message.method_string();
  const Target target = split_target(message.target());
  request.path = target.path;
  request.raw_path = target.raw_path;
  request.query = target.query;
  request.content_type = message[http::field::content_type];
  request.content_encoding = message[http::field::content_encoding];
  request.accept = message[http::field::accept];
  request.accept_encoding = message[http::field::accept_encoding];
  request.if_none_match = message[http::field::if_none_match];
  request.origin = message[http::field::origin];
  request.host = message[http::field::host];
  request.mcp_version = message["MCP-Protocol-Version"];
  request.anthropic_version = message["anthropic-version"];
  request.anthropic_beta = joined(message, "anthropic-beta");
  request.context = base::read_trace_context(joined(message, "traceparent"), joined(message, "tracestate"));
  request.key = base::Secret(key_in(message));
  request.is_preflight = message.count(http::field::access_control_request_method) > 0;
  request.preflight_headers = message[http::field::access_control_request_headers];
  return request;
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, ConnectionContext& context, bool is_welcome)
    : context_(context), is_welcome_(is_welcome) {
  boost::system::error_code error;
  from_here_ = socket.local_endpoint(error).address().is_loopback();
  line_ = std::make_shared<ClientLine>(std::move(socket), context.tls);
  context_.open.insert(this);
}

Connection::~Connection() {
  line_->close();
  context_.open.erase(this);
  context_.connections.fetch_sub(1);
}

void Connection::close() {
  line_->close();
}

void Connection::close_if_idle() {
  if (busy_) return;
  if (fresh_)
    line_->expires_after(grace);
  else
    close();
}

Awaitable<void> Connection::run() {
  co_await asio::this_coro::throw_if_cancelled(false);
  line_->expires_after(context_.options.idle);
  if (const auto error = co_await line_->greet()) {
    log::debug("a client did not speak TLS", {{"why", error.message()}});
    co_return;
  }
  if (!is_welcome_) co_await turn_away();
  for (Next next = Next::request; is_welcome_ && next == Next::request && (fresh_ || !context_.draining);)
    next = co_await serve_one();
  co_await end();
}

Awaitable<void> Connection::turn_away() {
  unread_ = true;
  std::vector<HttpHeader> headers{{"Retry-After", "1"}};
  co_await refuse(503,
                  fmt::format("{} connections are open, the most allowed (max_connections); retry in 1 s, or "
                              "let the operator raise max_connections",
                              context_.options.max_connections),
                  std::move(headers));
}

// With TLS the rest of the request is read first: nothing can be read after close_notify.
Awaitable<void> Connection::end() {
  const bool is_sending = unread_ || line_->must_close();
  if (is_sending && line_->is_tls()) co_await let_it_finish();
  line_->expires_after(grace);
  co_await line_->end_sending();
  if (is_sending && !line_->is_tls()) co_await let_it_finish();
}

// If we closed while the client is still sending, it would lose our answer. Its data is read and dropped, for
// a short time and up to the size of a request.
Awaitable<void> Connection::let_it_finish() {
  boost::beast::flat_buffer& held = line_->held();
  line_->expires_after(grace);
  std::size_t dropped = 0;
  do {
    dropped += held.size();
    held.consume(held.size());
  } while (dropped < context_.options.max_request_bytes && !co_await line_->read_more(body_step));
}

Awaitable<void> Connection::refuse(int status, const std::string& what, std::vector<HttpHeader> headers) {
  SocketReply reply(*line_, context_.thread, context_.options.idle, {.keeps_open = false});
  const Error error{status < 500 ? Errc::bad_input : Errc::unreachable, what};
  const std::string body = error_body(errors_, status, error);
  AnswerHead head;
  head.status = status;
  head.headers = std::move(headers);
  head.length = body.size();
  (void)co_await reply.head(head);
  (void)co_await reply.body(body);
}

Awaitable<void> Connection::refuse_for_memory(std::size_t body) {
  const MemoryBudget& memory = context_.memory;
  std::vector<HttpHeader> headers{{"Retry-After", "2"}};
  co_await refuse(
      503,
      fmt::format("a body of {} bytes needs about {} of memory; of {} (max_memory), other requests "
                  "use {}; retry in 2 s, send a shorter request, or let the operator raise "
                  "max_memory",
                  body, base::human_bytes(body * held_per_body_byte), base::human_bytes(memory.limit()),
                  base::human_bytes(memory.used())),
      std::move(headers));
}

// Reports why the request cannot be read, unless the client has disconnected.
Awaitable<void> Connection::complain(const beast::error_code& error) {
  if (const int status = status_for(error, busy_))
    co_await refuse(status, explain(status, error, context_.options));
}

// Reads more bytes. False: none arrived, and the error was reported if possible.
Awaitable<bool> Connection::read_more(std::size_t room) {
  if (const auto error = co_await line_->read_more(room)) {
    co_await complain(error);
    co_return false;
  }
  co_return true;
}

void Connection::skip_blank_lines(int& skipped) {
  beast::flat_buffer& held = line_->held();
  for (; skipped < most_blank_lines && text_of(held).starts_with("\r\n"); ++skipped) held.consume(2);
}

// Reads, checks and parses a head. False: there is none; errors were reported. A connection may be silent
// for long between requests; a head that has started must arrive within `idle`.
Awaitable<bool> Connection::read_head(RequestParser& parser) {
  const ServerOptions& options = context_.options;
  beast::flat_buffer& held = line_->held();
  busy_ = false;
  line_->expires_after(context_.draining ? grace : options.kept_open);
  std::size_t scanned = 0;
  int skipped = 0;
  Result<std::size_t> length = 0;
  while (true) {
    skip_blank_lines(skipped);
    if (held.size() > 0 && !busy_) {
      busy_ = true;
      line_->expires_after(options.idle);
    }
    length = head_length(text_of(held), scanned);
    if (!length || *length > 0) break;
    if (held.size() > options.max_header_bytes) break;
    if (!co_await read_more(0)) co_return false;
  }
  if (length && (*length == 0 || *length > options.max_header_bytes)) {
    co_await refuse(431, fmt::format("the request header is longer than {} bytes", options.max_header_bytes));
    co_return false;
  }
  const Result<void> fine =
      length ? check_head(text_of(held).substr(0, *length)) : tl::unexpected(length.error());
  if (!fine) {
    co_await refuse(400, fine.error().what);
    co_return false;
  }
  beast::error_code error;
  parser.eager(false);
  held.consume(parser.put(asio::buffer(held.data(), *length), error));
  errors_ = error_form_of(split_target(parser.get().target()).path, parser.get()["anthropic-version"]);
  if (error) co_await complain(error);
  co_return !error;
}

// Reads the body. Chunk framing counts too, up to the size of the body. Memory is reserved as bytes arrive,
// so that a client cannot reserve it by announcing a length.
Awaitable<bool> Connection::read_body(RequestParser& parser, HeldMemory& memory) {
  const ServerOptions& options = context_.options;
  beast::flat_buffer& held = line_->held();
  line_->expires_after(options.idle);
  const std::size_t announced = parser.content_length().value_or(0);
  if (!context_.memory.has_room_for(announced * held_per_body_byte)) {
    co_await refuse_for_memory(announced);
    co_return false;
  }
  if (beast::iequals(parser.get()[http::field::expect], "100-continue") && held.size() == 0) {
    const ClientLine::Parts parts{asio::buffer(go_on)};
    if (co_await line_->write(parts)) co_return false;
  }
  parser.eager(true);
  std::size_t read = 0;
  while (true) {
    beast::error_code error;
    if (held.size() > 0) {
      const std::size_t used = parser.put(held.data(), error);
      held.consume(used);
      read += used;
    }
    if (error == http::error::need_more) error = {};
    if (error) {
      co_await complain(error);
      co_return false;
    }
    if (!memory.grow_to_body(parser.get().body().size())) {
      co_await refuse_for_memory(parser.get().body().size());
      co_return false;
    }
    if (parser.is_done()) co_return true;
    if (held.size() > options.max_header_bytes || read > 2 * options.max_request_bytes) {
      co_await refuse(
          413, fmt::format("the chunk framing of the body is too long: a chunk extension or the trailers may "
                           "have {} bytes, the whole request {} (twice max_request_bytes)",
                           options.max_header_bytes, 2 * options.max_request_bytes));
      co_return false;
    }
    if (!co_await read_more(body_step)) co_return false;
  }
}

// Decompresses the body, on a worker if it is long. False: it is invalid, and was refused.
Awaitable<bool> Connection::unpack(ClientRequest& request, HeldMemory& memory) {
  const ServerOptions& options = context_.options;
  const Coding coding = coding_of(request.content_encoding);
  if (coding == Coding::none || request.body.empty()) co_return true;
  if (coding == Coding::unknown) {
    std::vector<HttpHeader> headers{{"Accept-Encoding", "gzip"}};
    co_await refuse(415, "unsupported Content-Encoding: send the body as gzip or uncompressed",
                    std::move(headers));
    co_return false;
  }
  Result<std::string> body;
  std::size_t refused = 0;
  const auto has_room = [&](std::size_t bytes) {
    if (memory.grow_to_body(bytes)) return true;
    refused = bytes;
    return false;
  };
  std::function<void()> work = [&] { body = gunzip(request.body, options.max_request_bytes, has_room); };
  co_await context_.thread.elsewhere_for_key(request.key_number(), std::move(work));
  if (refused > 0) {
    co_await refuse_for_memory(refused);
    co_return false;
  }
  if (!body) {
    const bool is_long = body.error().code == Errc::over_budget;
    co_await refuse(is_long ? 413 : 400, body.error().what + (is_long ? " (max_request_bytes)" : ""));
    co_return false;
  }
  request.body = *std::move(body);
  co_return true;
}

Awaitable<Connection::Next> Connection::serve_one() {
  const ServerOptions& options = context_.options;
  RequestParser parser;
  parser.header_limit(static_cast<std::uint32_t>(options.max_header_bytes));
  parser.body_limit(options.max_request_bytes);
  unread_ = true;
  errors_ = ErrorForm::openai;
  if (!co_await read_head(parser)) {
    unread_ = busy_;
    co_return Next::nothing;
  }
  // Copies the head now: the parser would let a trailer change it.
  const auto& message = parser.get();
  ClientRequest request = head_of(message, from_here_);
  SocketReply::Manner manner;
  manner.errors = errors_;
  manner.keeps_open = message.keep_alive();
  manner.is_head = message.method() == http::verb::head;
  manner.old_http = message.version() < 11;
  const bool wanted = parser.is_done() || !options.wants_body || options.wants_body(request);
  HeldMemory memory(context_.memory, request.key_number());
  if (wanted && !parser.is_done() && !co_await read_body(parser, memory)) co_return Next::nothing;
  unread_ = !parser.is_done();
  if (!unread_) request.body = std::move(parser.get().body());
  if (!unread_ && !co_await unpack(request, memory)) co_return Next::nothing;
  fresh_ = false;
  line_->expires_never();
  line_->when_ended(manner.old_http ? ClientLine::Ended::is_gone : ClientLine::Ended::ask);
  if (!unread_) line_->read_ahead();
  manner.keeps_open = manner.keeps_open && !unread_ && !context_.draining;
  SocketReply reply(*line_, context_.thread, options.idle, manner, &memory);
  request.body_unread = unread_;
  request.memory = &memory;
  request.is_head = manner.is_head;
  if (manner.is_head) request.method = "GET";
  co_await handle(request, reply);
  (void)co_await reply.finish();
  co_return reply.keeps_open() && reply.is_begun() ? Next::request : Next::nothing;
}

// Cancelled when the client disconnects: nothing throws, every wait ends with an error, and the upstream's
// connection is closed.
Awaitable<void> Connection::handle(ClientRequest& request, SocketReply& reply) {
  try {
    co_await context_.handler(context_.thread, request, reply);
  } catch (const std::exception& bug) {
    log::error("a handler threw", {{"path", request.path}, {"what", bug.what()}});
  }
  const auto state = co_await asio::this_coro::cancellation_state;
  if (reply.is_begun() || state.cancelled() != asio::cancellation_type::none) co_return;
  const std::string body = error_body(errors_, 500, Error{Errc::io_failed, "internal error; see the log"});
  AnswerHead head;
  head.status = 500;
  head.length = body.size();
  (void)co_await reply.head(head);
  (void)co_await reply.body(body);
}

}  // namespace plimsoll::gateway
