// Parts of adapters that translate a server's replies.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::base {

// A reply whose body has arrived already.
class WholeReply final : public HttpStream {
 public:
  WholeReply(ReplyHead head, std::string body) : head_(std::move(head)), body_(std::move(body)) {}
  const ReplyHead& head() const override { return head_; }
  Awaitable<Result<std::string_view>> read(Deadline) override {
    co_return std::exchange(is_read_, true) ? std::string_view() : std::string_view(body_);
  }

 private:
  ReplyHead head_;
  std::string body_;
  bool is_read_ = false;
};

// A stream of a server's pieces, translated to events; those that arrived together are handed out together.
//   Reader  add(bytes), next() and last(): the pieces, and what the end of the body left without its end
//   Writer  take(piece, events) and has_ended(): what a piece becomes, and whether the answer is complete
template <typename Reader, typename Writer>
class TranslatedStream final : public HttpStream {
 public:
  // `broken`: the error if the body ends before the answer is complete.
  TranslatedStream(std::unique_ptr<HttpStream> source, ReplyHead head, Writer writer, std::string broken)
      : source_(std::move(source)),
        head_(std::move(head)),
        writer_(std::move(writer)),
        broken_(std::move(broken)) {}
  const ReplyHead& head() const override { return head_; }

  Awaitable<Result<std::string_view>> read(Deadline deadline) override {
    events_.clear();
    if (writer_.has_ended()) {
      co_await read_to_end(deadline);
      co_return std::string_view();
    }
    while (events_.empty() && !is_over_) {
      CO_TRY(const std::string_view bytes, co_await source_->read(deadline));
      if (bytes.empty()) {
        is_over_ = true;
        if (const auto last = reader_.last()) CO_TRY_VOID(writer_.take(*last, events_));
        if (!writer_.has_ended()) co_return fail(Errc::upstream_failed, "{}", broken_);
        break;
      }
      CO_TRY_VOID(reader_.add(bytes));
      while (const auto piece = reader_.next()) CO_TRY_VOID(writer_.take(*piece, events_));
    }
    co_return std::string_view(events_);
  }

 private:
  // The connection can be reused once the end of the body has arrived. Waits for it only briefly.
  Awaitable<void> read_to_end(Deadline deadline) {
    while (!is_over_) {
      const auto bytes = co_await source_->read(sooner(deadline, Deadline::after(std::chrono::seconds(1))));
      is_over_ = !bytes || bytes->empty();
    }
  }

  std::unique_ptr<HttpStream> source_;
  ReplyHead head_;
  Reader reader_;
  Writer writer_;
  std::string broken_;
  std::string events_;
  bool is_over_ = false;
};

// Takes memory for an answer of which `bytes` have arrived. over_budget: there is none.
inline Result<void> hold_answer(RequestResources* resources, std::size_t bytes) {
  if (resources == nullptr || resources->hold_answer(bytes)) return {};
  return fail(Errc::over_budget,
              "there is no memory for the rest of the answer: {} have arrived, and all requests together use "
              "too much of max_memory; retry in 2 s, ask for less, or let the operator raise max_memory",
              human_bytes(bytes));
}

// Reads a body to its end; `whose` is for the error if it is longer than `most` bytes: "Ollama's reply".
inline Awaitable<Result<std::string>> read_whole(HttpStream& stream, std::size_t most, std::string_view whose,
                                                 Deadline deadline, RequestResources* resources) {
  std::string body;
  while (true) {
    CO_TRY(const std::string_view bytes, co_await stream.read(deadline));
    if (bytes.empty()) co_return body;
    if (body.size() + bytes.size() > most)
      co_return fail(Errc::upstream_failed, "{} is longer than {}", whose, human_bytes(most));
    CO_TRY_VOID(hold_answer(resources, body.size() + bytes.size()));
    body += bytes;
  }
}

// What a chat completion says of itself.
struct ChatIdentity {
  std::string id;            // "chatcmpl-..."
  std::int64_t created = 0;  // seconds since 1970
  std::string model;         // the name that the client is told
};

inline ChatIdentity new_identity(std::string model) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {fmt::format("chatcmpl-{:016x}", random()),
          std::chrono::duration_cast<std::chrono::seconds>(now).count(), std::move(model)};
}

}  // namespace plimsoll::base
