// Servers of the test's own for tests of adapters.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "plimsoll/upstream.hpp"

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

// Does all work at once, and counts it.
class FakeResources final : public RequestResources {
 public:
  explicit FakeResources(std::size_t most_held = ~std::size_t{0}) : most_held_(most_held) {}
  Awaitable<void> elsewhere(std::function<void()> work) override {
    ++works;
    work();
    co_return;
  }
  bool hold_answer(std::size_t bytes) override {
    held = bytes;
    return bytes <= most_held_;
  }
  int works = 0;
  std::size_t held = 0;

 private:
  std::size_t most_held_;
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

// Returns the next events of a stream, or the body of another reply.
inline Result<std::string> read(UpstreamReply& reply) {
  constexpr std::chrono::seconds patience{5};
  if (reply.info().streams)
    return wait_for(reply.next(patience, soon())).map([](const AnswerEvents& events) {
      return std::string(events.bytes);
    });
  return wait_for(reply.body(patience, soon())).map([](const ReplyBody& body) { return body.text; });
}

}  // namespace plimsoll::base
