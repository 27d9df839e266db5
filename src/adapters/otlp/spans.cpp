#include "adapters/otlp/spans.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"

namespace plimsoll::otlp {
namespace {

using Json = nlohmann::ordered_json;

// OTLP's numbers for them.
constexpr int server_span = 2, client_span = 3, failed_status = 2;
constexpr std::size_t most_events = 128;  // of a span; what collectors keep by default

// A list of attributes. Whole numbers are strings, as in all JSON that stands for Protocol Buffers.
class Attributes {
 public:
  Attributes& text(std::string_view key, std::string_view text) {
    if (!text.empty()) put(key, {{"stringValue", text}});
    return *this;
  }
  void add(std::string_view key, bool value) { put(key, {{"boolValue", value}}); }
  void add(std::string_view key, std::int64_t value) { put(key, {{"intValue", std::to_string(value)}}); }
  void add(std::string_view key, std::optional<std::int64_t> value) {
    if (value) add(key, *value);
  }
  void add(std::string_view key, double value) {
    if (std::isfinite(value)) put(key, {{"doubleValue", value}});
  }
  void add_list(std::string_view key, std::string_view only) {
    if (only.empty()) return;
    Json values = Json::array({{{"stringValue", only}}});
    put(key, {{"arrayValue", {{"values", std::move(values)}}}});
  }
  // Only above zero: most requests have none.
  void add_count(std::string_view key, std::int64_t value) {
    if (value > 0) add(key, value);
  }

  Json take() { return std::move(list_); }

 private:
  void put(std::string_view key, Json value) {
    list_.push_back(Json{{"key", key}, {"value", std::move(value)}});
  }

  Json list_ = Json::array();
};

std::string nanoseconds(std::int64_t at_ms, std::int64_t after_us) {
  return std::to_string(at_ms * 1'000'000 + after_us * 1'000);
}

Json event(std::string_view name, const std::string& at, Attributes attributes) {
  return {{"timeUnixNano", at}, {"name", name}, {"attributes", attributes.take()}};
}

// By OpenTelemetry's conventions.
std::string_view operation_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::chat:
    case RequestKind::response: return "chat";
    case RequestKind::completion: return "text_completion";
    case RequestKind::embedding:
    case RequestKind::ollama_embedding: return "embeddings";
  }
  return "";
}

// By the code of the reply; "" if it was answered.
std::string error_type(ReplyCode code) {
  const int number = number_of(code);
  if (number >= 200 && number < 300) return {};
  return number == 0 ? "unreachable" : std::to_string(number);
}

void add_cost(Attributes& to, const Cost& cost) {
  constexpr double nano = 1e-9;
  if (cost.nano_usd) to.add("plimsoll.cost.usd", static_cast<double>(*cost.nano_usd) * nano);
}

Json plan_event(const Plan& plan, const std::string& at) {
  Attributes about;
  for (const PlannedSection& planned : plan.sections) {
    const std::string key = fmt::format("plimsoll.section.{}.", name_of(planned.section.kind));
    if (planned.grant > 0) about.add(key + "granted", planned.grant);
    if (planned.used > 0) about.add(key + "used", planned.used);
  }
  about.text("plimsoll.policy", name_of(plan.policy))
      .text("plimsoll.strategy", name_of(plan.strategy.strategy));
  about.add("plimsoll.pressure", plan.pressure);
  about.add("plimsoll.plan.least_window", plan.least);
  const auto left_out =
      std::ranges::count_if(plan.pieces, [](const PlannedPiece& piece) { return piece.fate != Fate::kept; });
  about.add("plimsoll.pieces", static_cast<std::int64_t>(plan.pieces.size()));
  about.add_count("plimsoll.pieces.left_out", left_out);
  return event("plimsoll.plan", at, std::move(about));
}

Json passage_event(const TracePassage& passage, const std::string& at, bool with_words) {
  Attributes about;
  about.text("plimsoll.document", passage.document);
  about.add("plimsoll.tokens", passage.tokens);
  about.add("plimsoll.score", passage.score);
  about.text("plimsoll.reason", passage.reason);
  if (with_words) about.text("plimsoll.text", passage.text);
  return event("plimsoll.passage", at, std::move(about));
}

Json left_out_event(const TraceLeftOut& document, const std::string& at) {
  Attributes about;
  about.text("plimsoll.document", document.document);
  about.add("plimsoll.score", document.score);
  about.text("plimsoll.reason", document.reason);
  return event("plimsoll.left_out", at, std::move(about));
}

Json events_of(const Trace& trace, const Plan& plan, bool with_words) {
  Json events = Json::array();
  const std::string planned_at = nanoseconds(trace.at_ms, trace.retrieve_us + trace.plan_us);
  if (!plan.sections.empty()) events.push_back(plan_event(plan, planned_at));
  if (!plan.fallback.to.empty()) {
    Attributes about;
    about.text("plimsoll.fallback.from", plan.fallback.from)
        .text("plimsoll.fallback.to", plan.fallback.to)
        .text("plimsoll.reason", plan.fallback.reason);
    events.push_back(event("plimsoll.fallback", planned_at, std::move(about)));
  }
  const std::string found_at = nanoseconds(trace.at_ms, trace.retrieve_us);
  for (const TracePassage& passage : trace.passages)
    if (events.size() < most_events) events.push_back(passage_event(passage, found_at, with_words));
  for (const TraceLeftOut& document : trace.left_out)
    if (events.size() < most_events) events.push_back(left_out_event(document, found_at));
  for (const std::string& warning : trace.warnings) {
    if (!with_words || events.size() >= most_events) break;
    Attributes about;
    about.text("plimsoll.text", warning);
    events.push_back(event("plimsoll.warning", planned_at, std::move(about)));
  }
  return events;
}

Json request_span(const Trace& trace, const Plan& plan, bool with_words) {
  Attributes about;
  about.text("http.request.method", "POST").text("http.route", trace.route);
  if (trace.code != ReplyCode::none)
    about.add("http.response.status_code", std::int64_t{number_of(trace.code)});
  const std::string error = error_type(trace.code);
  about.text("error.type", error);
  if (with_words) about.text("exception.message", trace.error);
  about.text("gen_ai.request.model", trace.asked_model)
      .text("gen_ai.response.model", trace.model)
      .text("gen_ai.conversation.id", trace.session)
      .text("plimsoll.trace", trace.id)
      .text("plimsoll.owner", trace.owner)
      .text("plimsoll.upstream", trace.upstream)
      .text("plimsoll.index", trace.index);
  about.add("plimsoll.stream", trace.stream);
  about.add("plimsoll.changed", trace.changed);
  if (trace.window > 0) {
    about.add("plimsoll.window", trace.window);
    about.add("plimsoll.input", trace.input);
    about.add("plimsoll.thinking", trace.thinking);
    about.add("plimsoll.answer", trace.answer);
    about.add("plimsoll.margin", trace.margin);
    about.text("plimsoll.exactness", name_of(trace.exactness));
  }
  about.add("plimsoll.drift", trace.drift);
  about.add_count("plimsoll.upstream_cut", trace.cut);
  add_cost(about, trace.cost);
  about.add_count("plimsoll.left_out_documents", trace.left_out_total);
  about.add_count("plimsoll.warnings", static_cast<std::int64_t>(trace.warnings.size()));
  about.add("plimsoll.plan_us", trace.plan_us);
  about.add("plimsoll.retrieve_us", trace.retrieve_us);
  about.add("plimsoll.first_byte_us", trace.first_byte_us);
  if (with_words) about.text("plimsoll.prompt", trace.prompt);

  Json span{{"traceId", trace.context.trace_id}, {"spanId", trace.context.span_id}};
  if (!trace.context.state.empty()) span["traceState"] = trace.context.state;
  if (!trace.parent_span.empty()) span["parentSpanId"] = trace.parent_span;
  span["flags"] = trace.context.flags;
  span["name"] = fmt::format("POST {}", trace.route);
  span["kind"] = server_span;
  span["startTimeUnixNano"] = nanoseconds(trace.at_ms, 0);
  span["endTimeUnixNano"] = nanoseconds(trace.at_ms, trace.total_us);
  span["attributes"] = about.take();
  span["events"] = events_of(trace, plan, with_words);
  // A client's own mistake is no failure of the server.
  if (number_of(trace.code) == 0 || number_of(trace.code) >= 500) span["status"] = {{"code", failed_status}};
  return span;
}

Json attempt_span(const Trace& trace, const TraceAttempt& attempt, std::string_view operation, bool is_last) {
  Attributes about;
  about.text("gen_ai.operation.name", operation)
      .text("gen_ai.provider.name", attempt.provider)
      .text("gen_ai.request.model", attempt.model)
      .text("plimsoll.upstream", attempt.upstream)
      .text("plimsoll.outcome", attempt.outcome);
  if (attempt.window > 0) about.add("plimsoll.window", attempt.window);
  if (attempt.code != ReplyCode::none)
    about.add("http.response.status_code", std::int64_t{number_of(attempt.code)});
  const std::string error = error_type(attempt.code);
  about.text("error.type", error);
  std::int64_t ended_us = attempt.began_us + attempt.took_us;
  if (is_last && error.empty()) {  // whose reply is the answer, up to its end
    ended_us = std::max(ended_us, trace.total_us);
    about.add_count("gen_ai.request.max_tokens", trace.answer);
    about.add("gen_ai.usage.input_tokens", trace.usage.input);
    about.add("gen_ai.usage.output_tokens", trace.usage.answer);
    about.add("gen_ai.usage.reasoning.output_tokens", trace.usage.thinking);
    about.add("gen_ai.usage.cache_read.input_tokens", trace.usage.cached);
    about.add("gen_ai.usage.cache_creation.input_tokens", trace.usage.written);
    about.add_list("gen_ai.response.finish_reasons", trace.finish_reason);
    about.text("gen_ai.response.model", attempt.model);
  }
  Json span{{"traceId", trace.context.trace_id}, {"spanId", attempt.span_id}};
  if (!trace.context.state.empty()) span["traceState"] = trace.context.state;
  span["parentSpanId"] = trace.context.span_id;
  span["flags"] = trace.context.flags;
  span["name"] = fmt::format("{} {}", operation, attempt.model);
  span["kind"] = client_span;
  span["startTimeUnixNano"] = nanoseconds(trace.at_ms, attempt.began_us);
  span["endTimeUnixNano"] = nanoseconds(trace.at_ms, ended_us);
  span["attributes"] = about.take();
  if (!error.empty()) span["status"] = {{"code", failed_status}};
  return span;
}

Json text_attribute(std::string_view key, std::string_view text) {
  return {{"key", key}, {"value", {{"stringValue", text}}}};
}

}  // namespace

std::string spans_of(const Trace& trace, const Plan& plan, RequestKind kind, bool with_words) {
  std::string out = base::json_text(request_span(trace, plan, with_words));
  for (const TraceAttempt& attempt : trace.attempts) {
    if (attempt.span_id.empty()) continue;
    out += ',';
    base::append_json(out,
                      attempt_span(trace, attempt, operation_of(kind), &attempt == &trace.attempts.back()));
  }
  return out;
}

std::string spans_request(const SpanSource& source, std::span<const std::string> batches) {
  const Json resource{{"attributes", Json::array({text_attribute("service.name", "plimsoll"),
                                                  text_attribute("service.version", source.version),
                                                  text_attribute("service.instance.id", source.instance)})}};
  const Json scope{{"name", "plimsoll"}, {"version", source.version}};
  std::string out = R"({"resourceSpans":[{"resource":)" + base::json_text(resource) +
                    R"(,"scopeSpans":[{"scope":)" + base::json_text(scope) + R"(,"spans":[)";
  for (const std::string& batch : batches) {
    if (&batch != &batches.front()) out += ',';
    out += batch;
  }
  return out + "]}]}]}";
}

}  // namespace plimsoll::otlp
