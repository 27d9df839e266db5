#include "gateway/chat/chat_answer.hpp"

#include "base/chat_reply.hpp"
#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/private_words.hpp"
#include "base/translated_reply.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/http/answer_head.hpp"
#include "gateway/http/answer_json.hpp"
#include "gateway/openai/report_json.hpp"

namespace plimsoll::gateway {
namespace {

using base::member;
using base::text_in;

const Json& first_choice(const Json& completion) {
  static const Json none;
  const Json& choices = member(completion, "choices");
  return choices.is_array() && !choices.empty() ? choices[0] : none;
}

Json taken(Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  Json value = std::move(*found);
  object.erase(found);
  return value;
}

Json chunk_json(const Json& passage) {
  Json chunk{{"content", member(passage, "text")}};
  for (const char* key : {"score", "document", "metadata", "tokens", "start", "end", "path", "reason"})
    chunk[key] = member(passage, key);
  for (const char* key : {"page", "last_page", "first_line", "last_line"})
    if (const Json& place = member(passage, key); !place.is_null()) chunk[key] = place;
  return chunk;
}

std::string event_of(const Json& json) {
  return "data: " + base::json_text(json) + "\n\n";
}

void take_usage(const Json& completion, DocumentAnswer& answer) {
  const Json& reason = member(first_choice(completion), "finish_reason");
  if (!reason.is_null()) answer.finish_reason = reason;
  if (const Json& usage = member(completion, "usage"); usage.is_object()) answer.usage = usage;
}

void take_report(Json report, DocumentAnswer& answer) {
  if (!report.is_object()) return;
  answer.optimization = taken(report, "context_window_optimization");
  answer.model = text_in(report, "model");
  answer.chunks = Json::array();
  for (const Json& passage : taken(report, "passages")) answer.chunks.push_back(chunk_json(passage));
  answer.plimsoll = std::move(report);
}

}  // namespace

Result<DocumentAnswer> read_document_answer(std::string_view completion, Json report) {
  const Json json = parsed(completion);
  const Json& message = member(first_choice(json), "message");
  if (!message.is_object())
    return fail(Errc::upstream_failed, "the upstream's answer is not a chat completion");
  DocumentAnswer answer;
  answer.text = text_in(message, "content");
  take_usage(json, answer);
  take_report(std::move(report), answer);
  return answer;
}

Json answer_json(DocumentAnswer answer) {
  return {{"answer", std::move(answer.text)},
          {"model_name", std::move(answer.model)},
          {"chunks", std::move(answer.chunks)},
          {"metadata",
           {{"context_window_optimization", std::move(answer.optimization)},
            {"usage", std::move(answer.usage)},
            {"finish_reason", std::move(answer.finish_reason)}}},
          {"plimsoll", std::move(answer.plimsoll)}};
}

Awaitable<Result<void>> ChatSink::whole(const engine::AnswerStart& start, const ReplyBody& body,
                                        const engine::AnswerReport* report) {
  head_ = answer_head(start);
  completion_ = body.text;
  if (report != nullptr) report_ = report_json(*report);
  co_return Result<void>();
}

Awaitable<Result<void>> ChatSink::begin(const engine::AnswerStart& start) {
  events_ = true;
  head_ = answer_head(start);
  head_.headers.push_back({"Cache-Control", "no-cache"});
  co_return co_await reply_.head(head_);
}

Awaitable<Result<void>> ChatSink::events(const AnswerEvents& events) {
  std::string out;
  taken_ += events.bytes.size();
  Result<void> held = base::hold_answer(&thread_, taken_);
  if (taken_ > longest_) held = fail(Errc::upstream_failed, "the answer is longer than max_answer_bytes");
  if (!held) {
    problem_ = held.error().what;
    co_return held;
  }
  for (const AnswerEvent& event : events.each) {
    if (event.data.empty()) continue;
    if (event.facts.is_error) {
      problem_ = base::said_in_error(event.data);
      continue;
    }
    const Json json = parsed(event.data);
    const std::string delta = text_in(member(first_choice(json), "delta"), "content");
    answer_.text += delta;
    if (!delta.empty()) out += event_of({{"delta", delta}});
    take_usage(json, answer_);
  }
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Awaitable<Result<void>> ChatSink::end(const engine::AnswerEnd& end) {
  if (end.broken != nullptr) problem_ = base::for_clients(end.broken->what);
  const bool complete = !end.mark.empty() || !answer_.finish_reason.is_null();
  if (end.report != nullptr && complete) report_ = report_json(*end.report);
  co_return Result<void>();
}

Awaitable<Result<void>> ChatSink::refused(const engine::AnswerStart& start, const ReplyBody& body) {
  head_ = answer_head(start);
  problem_ = body.said;
  co_return Result<void>();
}

Awaitable<Result<void>> ChatSink::turned_away(const Trace& trace, const engine::Refusal& refusal) {
  head_ = answer_head(trace, refusal);
  problem_ = refusal.what;
  co_return Result<void>();
}

Result<DocumentAnswer> ChatSink::take() {
  if (head_.status >= 400 || !problem_.empty()) return fail(Errc::upstream_failed, "{}", problem_);
  if (!events_) return read_document_answer(completion_, std::move(report_));
  if (report_.is_null()) return fail(Errc::upstream_failed, "the upstream's answer was cut off; try again");
  take_report(std::move(report_), answer_);
  return std::move(answer_);
}

Awaitable<void> ChatSink::finish(int status, Json json) {
  if (!events_ && (!streams_ || status >= 400)) {
    co_await send_json(reply_, status, base::json_text(json), std::move(head_.headers));
    co_return;
  }
  if (!events_) {  // the upstream does not stream: the whole answer at once
    AnswerHead head = head_;
    head.content_type = "text/event-stream";
    head.length.reset();
    (void)co_await reply_.head(head);
  }
  const std::string last = event_of(json) + "data: [DONE]\n\n";
  (void)co_await reply_.body(last);
}

}  // namespace plimsoll::gateway
