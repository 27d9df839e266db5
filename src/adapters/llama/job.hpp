// One answer under way, between the thread that makes it and the one that hands it on.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/llama/generation.hpp"
#include "plimsoll/http_stream.hpp"

namespace plimsoll::llama {

// What was done for an answer.
struct Spent {
  Tokens prompt = 0;
  Tokens cached = 0;  // of the prompt: read in an earlier turn, and still there
  Tokens answer = 0;
  std::int64_t prompt_us = 0, answer_us = 0;
};

class Job {
 public:
  explicit Job(Generation generation) : asked(std::move(generation)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Generation asked;

  // ---- For the thread that makes it ----
  void add(std::string_view text);
  void end(std::string_view finish_reason, const Spent& spent);
  void fail(Error error);
  // Nobody waits for the rest.
  bool given_up() const { return given_up_; }

  // ---- For the one that hands it on ----
  // Nobody is woken from then on: who waited may be gone, and the loop that he waited on.
  void give_up();

  struct News {
    std::string text;           // since the last time
    std::string finish_reason;  // empty: there is more to come
    Spent spent;                // once it has ended
  };
  // Comes back when there is something to tell, or with all of it: who wants no stream is not woken for each
  // word, because the cores are the model's. timed_out; or why there is no answer.
  Awaitable<Result<News>> news(Deadline deadline, bool all = false);

 private:
  bool is_over() const { return !finish_reason_.empty() || error_; }
  void wake();

  std::mutex mutex_;
  std::string text_;
  std::string finish_reason_;
  Spent spent_;
  std::optional<Error> error_;
  std::function<void()> waiter_;
  bool waits_for_all_ = false;
  std::atomic<bool> given_up_ = false;
};

}  // namespace plimsoll::llama
