#include "gateway/ollama_sink.hpp"

#include <charconv>

#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/annotate.hpp"
#include "engine/reply.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* lines_type = "application/x-ndjson";
constexpr const char* json_type = "application/json; charset=utf-8";

Tokens window_in(const engine::AnswerHead& head) {
  Tokens window = 0;
  for (const HttpHeader& header : head.headers)
    if (header.name == "X-Plimsoll-Window")
      std::from_chars(header.value.data(), header.value.data() + header.value.size(), window);
  return window;
}

}  // namespace

Awaitable<Result<void>> OllamaSink::head(const engine::AnswerHead& head) {
  head_ = head;
  has_head_ = true;
  events_ = head.status < 400 && head.content_type.starts_with("text/event-stream");
  if (const Tokens window = window_in(head); manner_.num_ctx && *manner_.num_ctx > window && window > 0)
    answer_.add_note(fmt::format("options.num_ctx is {}, and the window that is served is {}",
                                 base::with_thousands(*manner_.num_ctx), base::with_thousands(window)));
  if (!events_) co_return Result<void>();
  engine::AnswerHead out = head;
  out.content_type = lines_type;
  out.length.reset();
  co_return co_await reply_.head(out);
}

Awaitable<Result<void>> OllamaSink::body(std::string_view bytes) {
  held_ += bytes;
  if (!events_) co_return Result<void>();
  std::string lines;
  std::size_t whole = 0;
  while (const std::size_t size = engine::first_event_end(std::string_view(held_).substr(whole))) {
    answer_.take(engine::data_of(std::string_view(held_).substr(whole, size)), lines);
    whole += size;
  }
  held_.erase(0, whole);
  if (lines.empty()) co_return Result<void>();
  co_return co_await reply_.body(lines);
}

Awaitable<Result<void>> OllamaSink::send_whole(std::string text, const std::string& type) {
  engine::AnswerHead out = head_;
  out.content_type = type;
  out.length = text.size();
  CO_TRY_VOID(co_await reply_.head(out));
  co_return co_await reply_.body(text);
}

Awaitable<Result<void>> OllamaSink::finish() {
  if (!has_head_) co_return Result<void>();
  if (events_) {
    std::string lines;
    answer_.take(engine::data_of(held_), lines);
    answer_.finish(lines);
    if (lines.empty()) co_return Result<void>();
    co_return co_await reply_.body(lines);
  }
  if (head_.status >= 400) {
    std::string error = ollama_error(engine::said_in_error(held_));
    co_return co_await send_whole(std::move(error), json_type);
  }
  Result<std::string> made;
  std::function<void()> work = [&] { made = answer_.whole(held_); };
  if (held_.size() <= manner_.at_once_bytes)
    work();
  else
    co_await crew_.elsewhere(std::move(work));
  if (!made) {
    head_.status = engine::status_of(made.error().code);
    made = ollama_error(made.error().what);
  } else if (manner_.streams) {
    *made += '\n';
  }
  const bool as_lines = manner_.streams && head_.status < 400;
  co_return co_await send_whole(*std::move(made), as_lines ? lines_type : json_type);
}

}  // namespace plimsoll::gateway
