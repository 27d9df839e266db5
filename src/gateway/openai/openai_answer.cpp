#include "gateway/openai/openai_answer.hpp"

#include "base/json/here_or_elsewhere.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/answer_head.hpp"
#include "gateway/openai/report_json.hpp"

namespace plimsoll::gateway {

std::string with_fields(std::string_view text, std::string_view fields) {
  const std::size_t open = text.find('{'), close = text.rfind('}');
  if (fields.empty() || open == std::string_view::npos || close == std::string_view::npos || close <= open)
    return std::string(text);
  const bool empty = text.find_first_not_of(" \t\r\n", open + 1) == close;
  std::string out;
  out.reserve(text.size() + fields.size() + 1);
  out.append(text.substr(0, close)).append(empty ? "" : ",").append(fields).append(text.substr(close));
  return out;
}

std::string with_detail(std::string_view body, std::string_view said) {
  const nlohmann::ordered_json json = base::parse_json(body);
  if (!json.is_object() || json.contains("detail")) return std::string(body);
  return with_fields(body, "\"detail\":" + base::json_text(said));
}

std::string_view ReportedStream::pass(const AnswerEvents& events) {
  if (!tells_ && !hides_usage_) return events.bytes;
  out_.clear();
  for (const AnswerEvent& event : events.each) {
    if (hides_usage_ && event.has_usage_alone()) continue;
    const bool may_be_last = tells_ && (!event.facts.finish_reason.empty() || event.has_usage_alone());
    // Another chunk follows the held one, perhaps of another choice.
    if (may_be_last || !event.data.empty()) out_ += std::exchange(held_, {});
    (may_be_last ? held_ : out_) += event.bytes;
  }
  return out_;
}

std::string ReportedStream::end(std::string_view fields, std::string_view mark) {
  constexpr std::string_view bare = "data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n";
  std::string out = std::exchange(held_, {});
  // A stream that broke off without a last chunk gets none.
  if (!fields.empty() && (!out.empty() || !mark.empty()))
    out = with_fields(out.empty() ? bare : std::string_view(out), fields);
  return out.append(mark);
}

Awaitable<Result<void>> OpenAiAnswer::send(AnswerHead head, std::string_view body) {
  head.length = body.size();
  CO_TRY_VOID(co_await reply_.head(head));
  co_return co_await reply_.body(body);
}

Awaitable<std::string> OpenAiAnswer::fields_of(const engine::AnswerReport* report) {
  if (report == nullptr) co_return std::string();
  const auto write = [report] { return report_fields(*report); };
  co_return co_await base::here_or_elsewhere(&thread_, !report->is_long(), write);
}

Awaitable<Result<void>> OpenAiAnswer::whole(const engine::AnswerStart& start, const ReplyBody& body,
                                            const engine::AnswerReport* report) {
  std::string fields = co_await fields_of(report);
  if (report == nullptr && lists_sources_ && start.is_chat) fields = R"("source_nodes":null)";
  AnswerHead head = answer_head(start);
  if (fields.empty()) co_return co_await send(std::move(head), body.text);
  const std::string told = with_fields(body.text, fields);
  co_return co_await send(std::move(head), told);
}

Awaitable<Result<void>> OpenAiAnswer::begin(const engine::AnswerStart& start) {
  stream_ = ReportedStream(start.tells, start.hides_usage);
  AnswerHead head = answer_head(start);
  head.headers.push_back({"Cache-Control", "no-cache"});
  co_return co_await reply_.head(head);
}

Awaitable<Result<void>> OpenAiAnswer::events(const AnswerEvents& events) {
  const std::string_view out = stream_.pass(events);
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Awaitable<Result<void>> OpenAiAnswer::end(const engine::AnswerEnd& end) {
  const std::string fields = co_await fields_of(end.report);
  std::string out = stream_.end(fields, end.mark);
  if (end.broken != nullptr) out += error_event(*end.broken);
  if (out.empty()) co_return Result<void>();
  co_return co_await reply_.body(out);
}

Awaitable<Result<void>> OpenAiAnswer::refused(const engine::AnswerStart& start, const ReplyBody& body) {
  const auto write = [&body] { return with_detail(body.text, body.said); };
  const std::string told = co_await base::off_thread_if_long(&thread_, body.text.size(), write);
  AnswerHead head = answer_head(start);
  co_return co_await send(std::move(head), told);
}

Awaitable<Result<void>> OpenAiAnswer::turned_away(const Trace& trace, const engine::Refusal& refusal) {
  const std::string told = error_body(refusal);
  AnswerHead head = answer_head(trace, refusal);
  co_return co_await send(std::move(head), told);
}

}  // namespace plimsoll::gateway
