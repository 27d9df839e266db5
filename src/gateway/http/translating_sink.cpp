#include "gateway/http/translating_sink.hpp"

#include "base/try.hpp"
#include "engine/annotate.hpp"
#include "engine/reply.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* json_type = "application/json; charset=utf-8";

}  // namespace

Awaitable<Result<void>> TranslatingSink::head(const engine::AnswerHead& head) {
  head_ = head;
  has_head_ = true;
  events_ = head.status < 400 && head.content_type.starts_with("text/event-stream");
  answer_.begin(head);
  if (!events_) co_return Result<void>();
  engine::AnswerHead out = head;
  out.content_type = answer_.stream_type();
  out.length.reset();
  co_return co_await reply_.head(out);
}

Awaitable<Result<void>> TranslatingSink::body(std::string_view bytes) {
  held_ += bytes;
  if (!events_) co_return Result<void>();
  std::string out;
  taken_ += bytes.size();
  if (taken_ > manner_.most_bytes) {
    answer_.take(R"({"error":{"message":"the answer is longer than max_answer_bytes"}})", out);
    (void)co_await reply_.body(out);
    co_return fail(Errc::upstream_failed, "the answer is longer than {} bytes", manner_.most_bytes);
  }
  std::size_t whole = 0;
  while (const std::size_t size = engine::first_event_end(std::string_view(held_).substr(whole))) {
    answer_.take(engine::data_of(std::string_view(held_).substr(whole, size)), out);
    whole += size;
  }
  held_.erase(0, whole);
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Awaitable<Result<void>> TranslatingSink::send_whole(std::string text, std::string type) {
  engine::AnswerHead out = head_;
  out.content_type = std::move(type);
  out.length = text.size();
  CO_TRY_VOID(co_await reply_.head(out));
  co_return co_await reply_.body(text);
}

Awaitable<void> TranslatingSink::work(bool at_once, std::function<void()> what) {
  if (at_once && !answer_.is_kept())
    what();
  else
    co_await thread_.elsewhere(std::move(what));
}

Awaitable<Result<void>> TranslatingSink::finish() {
  if (!has_head_) co_return Result<void>();
  if (events_) {
    std::string out;
    std::function<void()> ending = [&] {
      answer_.take(engine::data_of(held_), out);
      answer_.finish(out);
    };
    co_await work(/*at_once=*/true, std::move(ending));
    if (out.empty()) co_return Result<void>();
    co_return co_await reply_.body(out);
  }
  if (head_.status >= 400) co_return co_await send_whole(answer_.error(std::move(held_)), json_type);
  Result<std::string> made;
  std::function<void()> translating = [&] { made = answer_.whole(held_, manner_.streams); };
  co_await work(held_.size() <= manner_.at_once_bytes, std::move(translating));
  if (!made) {
    head_.status = engine::status_of(made.error().code);
    co_return co_await send_whole(answer_.error(engine::error_body(made.error())), json_type);
  }
  std::string type(manner_.streams ? answer_.stream_type() : json_type);
  co_return co_await send_whole(*std::move(made), std::move(type));
}

Awaitable<Result<void>> answer_translated(engine::Engine& engine, engine::WorkerContext& thread,
                                          engine::Ask ask, ClientReply& reply, AnswerTranslator& answer,
                                          bool streams, Deadline deadline, std::string& trace_id) {
  TranslatingSink::Manner manner;
  manner.streams = streams;
  manner.at_once_bytes = engine.rules.planned_at_once_bytes;
  manner.most_bytes = engine.rules.max_answer_bytes;
  TranslatingSink sink(thread, reply, answer, manner);
  const auto outcome = co_await engine::answer(engine, thread, std::move(ask), sink, deadline, trace_id);
  if (outcome) (void)co_await sink.finish();
  if (outcome || reply.is_begun()) co_return Result<void>();
  co_return outcome;
}

}  // namespace plimsoll::gateway
