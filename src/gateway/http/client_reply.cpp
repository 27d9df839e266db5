#include "gateway/http/client_reply.hpp"

#include <array>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/error_json.hpp"

namespace plimsoll::gateway {

namespace asio = boost::asio;

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

namespace {

// A header value from an upstream must not contain line breaks.
bool is_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

}  // namespace

// The answer itself is freed by whoever wanted to send it.
Awaitable<Result<void>> SocketReply::refuse_for_memory(std::size_t answer) {
  const Error error{
      Errc::unreachable,
      fmt::format("the answer of {} bytes takes about {} of memory until it is read, and other requests use "
                  "too much of max_memory; retry in 2 s, or let the operator raise max_memory",
                  answer, base::human_bytes(answer * held_per_answer_byte))};
  const std::string text = error_body(manner_.errors, 503, error);
  memory_ = nullptr;
  manner_.keeps_open = false;
  AnswerHead refusal;
  refusal.status = 503;
  refusal.headers = {{"Retry-After", "2"}};
  refusal.length = text.size();
  CO_TRY_VOID(co_await head(refusal));
  CO_TRY_VOID(co_await body(text));
  co_return fail(Errc::io_failed, "{}", error.what);
}

Awaitable<Result<void>> SocketReply::head(const AnswerHead& head) {
  if (memory_ != nullptr && head.length && *head.length > least_held_answer &&
      !memory_->grow_to_answer(*head.length))
    co_return co_await refuse_for_memory(*head.length);
  begun_ = true;
  // A stream may pause, and nothing may be sent during a pause.
  line_.when_ended(head.length || line_.has_ended() ? ClientLine::Ended::will_show
                                                    : ClientLine::Ended::is_gone);
  manner_.keeps_open = manner_.keeps_open && !line_.must_close();
  left_ = head.length.value_or(0);
  chunked_ = !head.length && !manner_.old_http;
  if (!head.length && manner_.old_http) manner_.keeps_open = false;
  auto out = std::back_inserter(waiting_);
  fmt::format_to(out, "HTTP/1.1 {} {}\r\nServer: plimsoll\r\nDate: {}\r\n", head.status,
                 reason_of(head.status), thread_.date());
  if (is_line(head.content_type)) fmt::format_to(out, "Content-Type: {}\r\n", head.content_type);
  for (const HttpHeader& header : head.headers)
    if (is_line(header.name) && is_line(header.value))
      fmt::format_to(out, "{}: {}\r\n", header.name, header.value);
  // A 304 has no body, and its length would have to be that of the body it stands for.
  const bool tells_length = head.length && head.status != 304;
  if (tells_length) fmt::format_to(out, "Content-Length: {}\r\n", *head.length);
  if (chunked_) waiting_ += "Transfer-Encoding: chunked\r\n";
  waiting_ += manner_.keeps_open ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  co_return Result<void>();
}

Awaitable<Result<void>> SocketReply::write(std::string_view bytes, bool as_chunk) {
  std::array<char, 24> size{};
  std::size_t size_length = 0;
  if (as_chunk)
    size_length =
        static_cast<std::size_t>(fmt::format_to_n(size.data(), size.size(), "{:x}\r\n", bytes.size()).size);
  const ClientLine::Parts parts{asio::buffer(waiting_), asio::buffer(size.data(), size_length),
                                asio::buffer(bytes.data(), bytes.size()),
                                asio::buffer("\r\n", as_chunk ? 2 : 0)};
  line_.expires_after(idle_);
  const auto error = co_await line_.write(parts);
  line_.expires_never();
  waiting_.clear();
  if (!error) co_return Result<void>();
  failed_ = true;
  co_return fail(Errc::unreachable, "the client disconnected: {}", error.message());
}

Awaitable<Result<void>> SocketReply::body(std::string_view bytes) {
  if (manner_.is_head) co_return Result<void>();
  left_ -= std::min(left_, bytes.size());
  // Writes in slices, each with its own deadline: a slow client that keeps reading is not disconnected.
  constexpr std::size_t slice = std::size_t{256} << 10;
  while (!bytes.empty()) {
    CO_TRY_VOID(co_await write(bytes.substr(0, slice), chunked_));
    bytes.remove_prefix(std::min(slice, bytes.size()));
  }
  co_return Result<void>();
}

Awaitable<Result<void>> SocketReply::finish() {
  if (failed_ || !begun_) co_return Result<void>();
  if (left_ > 0 && !manner_.is_head) failed_ = true;  // the length was sent: only closing shows the error
  if (chunked_ && !manner_.is_head) waiting_ += "0\r\n\r\n";
  if (!waiting_.empty()) co_return co_await write({}, false);
  co_return Result<void>();
}

}  // namespace plimsoll::gateway
