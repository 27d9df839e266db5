#include "gateway/http/translating_sink.hpp"

#include "base/json/here_or_elsewhere.hpp"
#include "base/private_words.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/answer_head.hpp"
#include "gateway/openai/report_json.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* json_type = "application/json; charset=utf-8";

}  // namespace

void AnswerTranslator::tell(const engine::AnswerReport& report) {
  plimsoll_ = report_json(report);
  if (report.names_index) source_nodes_ = source_nodes(report);
}

Awaitable<Result<void>> TranslatingSink::send(AnswerHead head, std::string_view type, std::string body) {
  head.content_type = type;
  head.length = body.size();
  CO_TRY_VOID(co_await reply_.head(head));
  co_return co_await reply_.body(body);
}

Awaitable<void> TranslatingSink::work(bool at_once, std::function<void()> what) {
  if (at_once && !answer_.is_kept())
    what();
  else
    co_await thread_.elsewhere(std::move(what));
}

Awaitable<Result<void>> TranslatingSink::whole(const engine::AnswerStart& start, const ReplyBody& body,
                                               const engine::AnswerReport* report) {
  AnswerHead head = answer_head(start);
  if (start.from.is_native)
    co_return co_await send(std::move(head), start.from.head.header("content-type"), body.text);
  answer_.planned(start.trace);
  Result<std::string> made;
  std::function<void()> translating = [&] {
    if (report != nullptr) answer_.tell(*report);
    made = answer_.whole(body.text, manner_.streams);
  };
  const bool is_long =
      body.text.size() > base::most_bytes_at_once || (report != nullptr && report->is_long());
  co_await work(!is_long, std::move(translating));
  if (made)
    co_return co_await send(std::move(head), manner_.streams ? answer_.stream_type() : json_type,
                            *std::move(made));
  head.status = status_of(made.error().code);
  std::string told = answer_.error(head.status, error_body(made.error()), made.error().what);
  co_return co_await send(std::move(head), json_type, std::move(told));
}

Awaitable<Result<void>> TranslatingSink::begin(const engine::AnswerStart& start) {
  AnswerHead head = answer_head(start);
  is_native_ = start.from.is_native;
  if (!is_native_) head.content_type = answer_.stream_type();
  head.headers.push_back({"Cache-Control", "no-cache"});
  answer_.planned(start.trace);
  co_return co_await reply_.head(head);
}

Awaitable<Result<void>> TranslatingSink::events(const AnswerEvents& events) {
  if (is_native_) co_return co_await reply_.body(events.bytes);
  std::string out;
  taken_ += events.bytes.size();
  if (taken_ > manner_.longest_stream) {
    answer_.break_off("the answer is longer than max_answer_bytes", out);
    (void)co_await reply_.body(out);
    co_return fail(Errc::upstream_failed, "the answer is longer than {} bytes", manner_.longest_stream);
  }
  if (auto held = base::hold_answer(&thread_, taken_); !held) {
    answer_.break_off(held.error().what, out);
    (void)co_await reply_.body(out);
    co_return held;
  }
  for (const AnswerEvent& event : events.each) answer_.take(event.data, out);
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Awaitable<Result<void>> TranslatingSink::end(const engine::AnswerEnd& end) {
  std::string out;
  std::function<void()> ending = [&] {
    if (end.broken != nullptr) return answer_.break_off(base::for_clients(end.broken->what), out);
    if (is_native_ && !end.mark.empty()) return void(out = end.mark);
    if (is_native_) return answer_.break_off("the reply of the server broke off before its end", out);
    if (end.report != nullptr) answer_.tell(*end.report);
    answer_.finish(!end.mark.empty(), out);
  };
  co_await work(end.report == nullptr || !end.report->is_long(), std::move(ending));
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Awaitable<Result<void>> TranslatingSink::refused(const engine::AnswerStart& start, const ReplyBody& body) {
  AnswerHead head = answer_head(start);
  if (start.from.is_native)
    co_return co_await send(std::move(head), start.from.head.header("content-type"), body.text);
  const auto write = [&] { return answer_.error(head.status, body.text, body.said); };
  std::string told = co_await base::off_thread_if_long(&thread_, body.text.size(), write);
  co_return co_await send(std::move(head), json_type, std::move(told));
}

Awaitable<Result<void>> TranslatingSink::turned_away(const Trace& trace, const engine::Refusal& refusal) {
  AnswerHead head = answer_head(trace, refusal);
  std::string told = answer_.error(head.status, error_body(refusal), refusal.what);
  co_return co_await send(std::move(head), json_type, std::move(told));
}

Awaitable<Result<void>> answer_translated(engine::Engine& engine, engine::WorkerContext& thread,
                                          engine::Ask ask, ClientReply& reply, AnswerTranslator& answer,
                                          bool streams, Deadline deadline, std::string& trace_id) {
  TranslatingSink::Manner manner;
  manner.streams = streams;
  manner.longest_stream = engine.rules.max_answer_bytes;
  TranslatingSink sink(thread, reply, answer, manner);
  const auto outcome = co_await engine::answer(engine, thread, std::move(ask), sink, deadline, trace_id);
  if (outcome || reply.is_begun()) co_return Result<void>();
  co_return outcome;
}

}  // namespace plimsoll::gateway
