// Servers of the test's own for tests of adapters.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "plimsoll/http_stream.hpp"

namespace plimsoll::base {

// Gives the same reply to every request, in these pieces.
class FakeStreams final : public HttpStreams {
 public:
  using Sent = Result<std::unique_ptr<HttpStream>>;

  FakeStreams(ReplyHead head, std::deque<std::string> pieces)
      : head_(std::move(head)), pieces_(std::move(pieces)) {}
  Awaitable<Sent> open(HttpRequest request, Deadline) override {
    asked = std::move(request);
    std::unique_ptr<HttpStream> reply = std::make_unique<Reply>(head_, pieces_);
    co_return reply;
  }
  HttpRequest asked;

 private:
  class Reply final : public HttpStream {
   public:
    Reply(ReplyHead head, std::deque<std::string> pieces)
        : head_(std::move(head)), pieces_(std::move(pieces)) {}
    const ReplyHead& head() const override { return head_; }
    Awaitable<Result<std::string_view>> read(Deadline) override {
      if (pieces_.empty()) co_return std::string_view();
      last_ = std::move(pieces_.front());
      pieces_.pop_front();
      co_return std::string_view(last_);
    }

   private:
    ReplyHead head_;
    std::deque<std::string> pieces_;
    std::string last_;
  };

  ReplyHead head_;
  std::deque<std::string> pieces_;
};

template <typename T>
T wait_for(Awaitable<T> awaitable) {
  boost::asio::io_context io;
  std::optional<T> value;
  boost::asio::co_spawn(io, std::move(awaitable),
                        [&](const std::exception_ptr&, T result) { value.emplace(std::move(result)); });
  io.run();
  return *std::move(value);
}

inline Deadline soon() {
  return Deadline::after(std::chrono::seconds(5));
}

}  // namespace plimsoll::base
