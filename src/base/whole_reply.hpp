// Parts of adapters that translate a server's replies.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "plimsoll/http_stream.hpp"

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

// Reads a body to its end; `whose` is for the error if it is longer than `most` bytes: "Ollama's reply".
inline Awaitable<Result<std::string>> read_whole(HttpStream& stream, std::size_t most, std::string_view whose,
                                                 Deadline deadline) {
  std::string body;
  while (true) {
    CO_TRY(const std::string_view bytes, co_await stream.read(deadline));
    if (bytes.empty()) co_return body;
    if (body.size() + bytes.size() > most)
      co_return fail(Errc::upstream_failed, "{} is longer than {}", whose, human_bytes(most));
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
