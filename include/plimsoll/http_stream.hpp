// The port for streamed replies: sends one request, reads its reply piece by piece.
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
  std::vector<HttpHeader> headers;  // names in lower case

  // Returns a header's value; empty if there is none.
  std::string_view header(std::string_view name) const {
    for (const HttpHeader& header : headers)
      if (header.name == name) return header.value;
    return {};
  }
};

// A reply that is being read. Destroying it before its end closes the connection, so the server can stop
// generating.
class HttpStream {
 public:
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  virtual const ReplyHead& head() const = 0;

  // Returns the next bytes of the body, as many as have arrived, at least one; valid until the next call.
  // Empty at the end of the body and afterwards. Does not read ahead, so a slow reader slows the server down.
  // timed_out; upstream_failed: the reply was cut off or not HTTP.
  virtual Awaitable<Result<std::string_view>> read(Deadline deadline) = 0;
};

// For one thread only, like its streams, which it must outlive. Gives the guarantees of HttpClient except
// the body limit. Cancelling is safe at any await.
class HttpStreams {
 public:
  HttpStreams() = default;
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;
  virtual ~HttpStreams() = default;

  // Returns when the head of the reply has arrived. A reply of any status is a value. If a reused connection
  // turns out to be closed before the first byte, a new one is opened, once. The deadline is for
  // the head.
  virtual Awaitable<Result<std::unique_ptr<HttpStream>>> open(HttpRequest request, Deadline deadline) = 0;
};

}  // namespace plimsoll
