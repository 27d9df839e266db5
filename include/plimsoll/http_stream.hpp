// The port through which replies come as they are made: one request out, its reply piece by piece.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "plimsoll/http.hpp"

namespace plimsoll {

template <typename T>
using Awaitable = boost::asio::awaitable<T>;

struct ReplyHead {
  int status = 0;
  std::vector<HttpHeader> headers;  // names in small letters

  // Empty where there is none.
  std::string_view header(std::string_view name) const {
    for (const HttpHeader& header : headers)
      if (header.name == name) return header.value;
    return {};
  }
};

// A reply under way. Giving it up before its end closes its connection, so that the other side stops working
// for nobody.
class HttpStream {
 public:
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  virtual const ReplyHead& head() const = 0;

  // The next bytes of the body, as many as have arrived, once there are any; valid until the next call. Empty
  // at the end of the body, and from then on. Nothing is read ahead: who reads slowly slows the other side
  // down. timed_out; upstream_failed: the reply broke off, or was no HTTP.
  virtual Awaitable<Result<std::string_view>> read(Deadline deadline) = 0;
};

// Belongs to the thread that it was made for, as do its streams, which it outlives. Makes HttpClient's
// promises, but for the length of a body. Cancelling is safe at any await.
class HttpStreams {
 public:
  HttpStreams() = default;
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;
  virtual ~HttpStreams() = default;

  // Comes back with the head of the reply. A reply of any status is a value. A connection that was kept and
  // turns out to be dead before a byte came back is replaced by a new one, once. The deadline is that of
  // the head.
  virtual Awaitable<Result<std::unique_ptr<HttpStream>>> open(HttpRequest request, Deadline deadline) = 0;
};

}  // namespace plimsoll
