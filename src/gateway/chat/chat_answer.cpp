#include "gateway/chat/chat_answer.hpp"

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "engine/annotate.hpp"
#include "engine/reply.hpp"
#include "gateway/api.hpp"
#include "gateway/http/answer_json.hpp"

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
  for (const char* key :
       {"score", "document", "metadata", "tokens", "start", "end", "page", "path", "reason"})
    chunk[key] = member(passage, key);
  for (const char* key : {"first_line", "last_line"})
    if (const Json& line = member(passage, key); !line.is_null()) chunk[key] = line;
  return chunk;
}

std::string event_of(const Json& json) {
  return "data: " + base::json_text(json) + "\n\n";
}

}  // namespace

void take_extras(Json& completion, DocumentAnswer& answer) {
  const Json& reason = member(first_choice(completion), "finish_reason");
  if (!reason.is_null()) answer.finish_reason = reason;
  if (const Json& usage = member(completion, "usage"); usage.is_object()) answer.usage = usage;
  Json ours = completion.is_object() ? taken(completion, "plimsoll") : Json();
  if (!ours.is_object()) return;
  answer.optimization = taken(ours, "context_window_optimization");
  answer.model = text_in(ours, "model");
  answer.chunks = Json::array();
  for (const Json& passage : taken(ours, "passages")) answer.chunks.push_back(chunk_json(passage));
  answer.plimsoll = std::move(ours);
}

Result<DocumentAnswer> read_document_answer(std::string_view completion) {
  Json json = parsed(completion);
  const Json& message = member(first_choice(json), "message");
  if (!message.is_object())
    return fail(Errc::upstream_failed, "the upstream's answer is not a chat completion");
  DocumentAnswer answer;
  answer.text = text_in(message, "content");
  take_extras(json, answer);
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

Awaitable<Result<void>> ChatSink::head(const engine::AnswerHead& head) {
  head_ = head;
  events_ = head.status < 400 && head.content_type.starts_with("text/event-stream");
  if (!events_) co_return Result<void>();
  co_return co_await reply_.head(head);
}

void ChatSink::take_event(std::string_view data, std::string& out) {
  if (data.empty() || data == "[DONE]") return;
  Json json = parsed(data);
  if (json.is_object() && json.contains("error")) {
    problem_ = engine::said_in_error(data);
    return;
  }
  const std::string delta = text_in(member(first_choice(json), "delta"), "content");
  answer_.text += delta;
  if (!delta.empty()) out += event_of({{"delta", delta}});
  take_extras(json, answer_);
}

Awaitable<Result<void>> ChatSink::body(std::string_view bytes) {
  held_ += bytes;
  if (!events_) co_return Result<void>();
  std::string out;
  std::size_t whole = 0;
  while (const std::size_t size = engine::first_event_end(std::string_view(held_).substr(whole))) {
    take_event(engine::data_of(std::string_view(held_).substr(whole, size)), out);
    whole += size;
  }
  held_.erase(0, whole);
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Result<DocumentAnswer> ChatSink::take() {
  if (!events_ && head_.status >= 400) return fail(Errc::upstream_failed, "{}", engine::said_in_error(held_));
  if (!events_) return read_document_answer(held_);
  if (!problem_.empty()) return fail(Errc::upstream_failed, "{}", problem_);
  if (answer_.plimsoll.is_null())
    return fail(Errc::upstream_failed, "the upstream's answer was cut off; try again");
  return std::move(answer_);
}

Awaitable<void> ChatSink::finish(int status, Json json) {
  if (!events_ && (!streams_ || status >= 400)) {
    co_await send_json(reply_, status, base::json_text(json), std::move(head_.headers));
    co_return;
  }
  if (!events_) {  // the upstream does not stream: the whole answer at once
    engine::AnswerHead head = head_;
    head.content_type = "text/event-stream";
    head.length.reset();
    (void)co_await reply_.head(head);
  }
  const std::string last = event_of(json) + "data: [DONE]\n\n";
  (void)co_await reply_.body(last);
}

}  // namespace plimsoll::gateway
