#include "gateway/http/answer_head.hpp"

#include "gateway/error_json.hpp"

namespace plimsoll::gateway {
namespace {

bool is_passed_on(std::string_view header) {
  return header == "retry-after" || header == "x-request-id" || header == "request-id" ||
         header.starts_with("x-ratelimit-") || header.starts_with("openai-") ||
         header.starts_with("anthropic-ratelimit-");
}

}  // namespace

AnswerHead answer_head(const engine::AnswerStart& start) {
  const ReplyHead& from = start.from.head;
  AnswerHead head;
  head.status = from.status;
  if (const std::string_view type = from.header("content-type"); !type.empty()) head.content_type = type;
  for (const HttpHeader& header : from.headers)
    if (is_passed_on(header.name)) head.headers.push_back(header);
  const Trace& trace = start.trace;
  head.headers.push_back({"X-Plimsoll-Trace", trace.id});
  head.headers.push_back({"X-Plimsoll-Window", std::to_string(trace.window)});
  head.headers.push_back({"X-Plimsoll-Input-Tokens", std::to_string(trace.input)});
  head.headers.push_back({"X-Plimsoll-Answer-Tokens", std::to_string(trace.answer)});
  head.headers.push_back({"X-Plimsoll-Model", trace.model});
  if (start.passages) head.headers.push_back({"X-Plimsoll-Passages", std::to_string(*start.passages)});
  if (trace.cut > 0) head.headers.push_back({"X-Plimsoll-Upstream-Cut-Tokens", std::to_string(trace.cut)});
  return head;
}

AnswerHead answer_head(const Trace& trace, const engine::Refusal& refusal) {
  AnswerHead head;
  head.status = status_of(refusal.kind);
  head.headers = refusal_headers(refusal);
  head.headers.push_back({"X-Plimsoll-Trace", trace.id});
  return head;
}

}  // namespace plimsoll::gateway
