#include "adapters/anthropic/from_anthropic.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::anthropic {
namespace {

using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

constexpr std::size_t longest_shown = 500;

Result<Json> parse(std::string_view text) {
  Json json;
  if (base::check_json_shape(text, "the reply")) json = base::parse_json(text);
  if (!json.is_object()) return fail(Errc::upstream_failed, "the reply of the server is not a JSON object");
  return json;
}

struct Complaint {
  std::string type, message;
};

// {"type": "error", "error": {"type", "message"}}; proxies have their own forms.
std::optional<Complaint> error_in(const Json& reply) {
  const Json& error = member(reply, "error");
  if (error.is_null()) return std::nullopt;
  if (error.is_string()) return Complaint{{}, error.get<std::string>()};
  const std::string message = text_in(error, "message");
  return Complaint{text_in(error, "type"), message.empty() ? base::json_text(error) : message};
}

Json error_object(const Complaint& complaint, int status) {
  const bool is_ours = status >= 400 && status < 500;
  const std::string usual = is_ours ? "invalid_request_error" : "api_error";
  return {{"error",
           {{"message", complaint.message},
            {"type", complaint.type.empty() ? usual : complaint.type},
            {"param", nullptr},
            {"code", nullptr}}}};
}

std::uint64_t tokens_in(const Json& usage, const char* key) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const Json& value = member(usage, key);
  return value.is_number_unsigned() ? std::min(value.get<std::uint64_t>(), most) : 0;
}

// Adds what an event says of the usage. Each tells the newest of some figures.
void add_usage(const Json& object, Json& usage) {
  const Json& said = member(object, "usage");
  if (!said.is_object()) return;
  for (const auto& [name, value] : said.items())
    if (value.is_number_unsigned() || name == "cache_creation" || name == "service_tier") usage[name] = value;
}

// Null where the server did not count the input. It counts what it read from its cache, and what it wrote
// there, beside the rest.
Json usage_of(const Json& usage) {
  if (!member(usage, "input_tokens").is_number_unsigned()) return nullptr;
  const std::uint64_t cached = tokens_in(usage, "cache_read_input_tokens");
  const std::uint64_t written = tokens_in(usage, "cache_creation_input_tokens");
  const std::uint64_t read = tokens_in(usage, "input_tokens") + cached + written;
  const std::uint64_t answer = tokens_in(usage, "output_tokens");
  Json said{{"prompt_tokens", read},
            {"completion_tokens", answer},
            {"total_tokens", read + answer},
            {"prompt_tokens_details", {{"cached_tokens", cached}, {"cache_creation_tokens", written}}}};
  // These have prices of their own. Most replies have neither.
  if (const std::uint64_t hour = tokens_in(member(usage, "cache_creation"), "ephemeral_1h_input_tokens");
      hour > 0)
    said["prompt_tokens_details"]["cache_creation_hour_tokens"] = hour;
  if (const std::string tier = text_in(usage, "service_tier"); !tier.empty() && tier != "standard")
    said["service_tier"] = tier;
  return said;
}

std::string_view finish_reason(std::string_view reason, bool has_called) {
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return "length";
  if (reason == "refusal") return "content_filter";
  if (reason == "end_turn" || reason == "stop_sequence") return "stop";
  return reason == "tool_use" || has_called ? "tool_calls" : "stop";
}

// What has to come back with a thought, or null.
Json signed_thought(const Json& block) {
  const std::string type = text_in(block, "type");
  if (type == "redacted_thinking") return {{"type", type}, {"data", text_in(block, "data")}};
  const std::string signature = text_in(block, "signature");
  if (type != "thinking" || signature.empty()) return nullptr;
  return {{"type", type}, {"thinking", text_in(block, "thinking")}, {"signature", signature}};
}

// A delta or message with one of them.
Json with_thought(Json thought) {
  Json blocks = Json::array();
  blocks.push_back(std::move(thought));
  Json delta = Json::object();
  delta["thinking_blocks"] = std::move(blocks);
  return delta;
}

Json envelope(const Identity& identity, const char* object) {
  return {{"id", identity.id}, {"object", object}, {"created", identity.created}, {"model", identity.model}};
}

void write_event(std::string& events, const Json& json) {
  events.append("data: ").append(base::json_text(json)).append("\n\n");
}

}  // namespace

// ---- A stream ----

void EventWriter::write_delta(Json delta, std::string& events) {
  if (!std::exchange(begun_, true)) {
    Json first{{"role", "assistant"}, {"content", ""}};
    first.update(delta);
    delta = std::move(first);
  }
  if (delta.empty()) return;
  Json choice{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", nullptr}};
  Json chunk = envelope(identity_, "chat.completion.chunk");
  chunk["choices"] = Json::array({std::move(choice)});
  write_event(events, chunk);
}

void EventWriter::add_arguments(Call& call, std::string text, std::string& events) {
  if (text.empty()) return;
  call.has_arguments = true;
  Json piece{{"index", call.number}, {"function", {{"arguments", std::move(text)}}}};
  Json delta = Json::object();
  delta["tool_calls"] = Json::array({std::move(piece)});
  write_delta(std::move(delta), events);
}

void EventWriter::begin_block(std::size_t index, const Json& block, std::string& events) {
  const std::string type = text_in(block, "type");
  if (type == "tool_use") {
    Call& call = open_calls_[index];
    call = {calls_++, false};
    Json piece{{"index", call.number},
               {"id", text_in(block, "id")},
               {"type", "function"},
               {"function", {{"name", text_in(block, "name")}, {"arguments", ""}}}};
    Json delta = Json::object();
    delta["tool_calls"] = Json::array({std::move(piece)});
    write_delta(std::move(delta), events);
    const Json& input = member(block, "input");
    if (input.is_object() && !input.empty()) add_arguments(call, base::json_text(input), events);
  } else if (type == "redacted_thinking") {
    write_delta(with_thought(signed_thought(block)), events);
  } else if (const std::string text = text_in(block, "text"); type == "text" && !text.empty()) {
    write_delta({{"content", text}}, events);
  }
}

void EventWriter::add_to_block(std::size_t index, const Json& delta, std::string& events) {
  const std::string type = text_in(delta, "type");
  if (type == "text_delta") {
    write_delta({{"content", text_in(delta, "text")}}, events);
  } else if (type == "thinking_delta") {
    write_delta({{"reasoning_content", text_in(delta, "thinking")}}, events);
  } else if (type == "signature_delta") {
    const std::string signature = text_in(delta, "signature");
    if (signature.empty()) return;
    Json thought{{"type", "thinking"}, {"thinking", ""}, {"signature", signature}};
    write_delta(with_thought(std::move(thought)), events);
  } else if (type == "input_json_delta") {
    const auto call = open_calls_.find(index);
    if (call != open_calls_.end()) add_arguments(call->second, text_in(delta, "partial_json"), events);
  }
}

void EventWriter::end_block(std::size_t index, std::string& events) {
  const auto call = open_calls_.find(index);
  if (call == open_calls_.end()) return;
  if (!call->second.has_arguments) add_arguments(call->second, "{}", events);
  open_calls_.erase(call);
}

void EventWriter::end(std::string& events) {
  write_delta(Json::object(), events);  // the first chunk, where nothing was said
  Json choice{
      {"index", 0}, {"delta", Json::object()}, {"finish_reason", finish_reason(stop_reason_, calls_ > 0)}};
  if (!stop_sequence_.empty()) choice["stop_reason"] = stop_sequence_;
  Json chunk = envelope(identity_, "chat.completion.chunk");
  chunk["choices"] = Json::array({std::move(choice)});
  write_event(events, chunk);
  if (Json usage = usage_of(usage_); !usage.is_null()) {
    chunk["choices"] = Json::array();
    chunk["usage"] = std::move(usage);
    write_event(events, chunk);
  }
  events += "data: [DONE]\n\n";
  ended_ = true;
}

Result<void> EventWriter::take(std::string_view data, std::string& events) {
  if (ended_) return {};
  TRY(const Json event, parse(data));
  const std::string type = text_in(event, "type");
  if (const auto complaint = error_in(event)) {
    write_event(events, error_object(*complaint, 500));
    events += "data: [DONE]\n\n";
    ended_ = true;
    return {};
  }
  const Json& message = member(event, "message");
  const Json& at = member(event, "index");
  const std::size_t index = at.is_number_unsigned() ? at.get<std::size_t>() : 0;
  for (const Json* object : {&message, &event}) add_usage(*object, usage_);
  if (type == "message_start") {
    if (std::string id = text_in(message, "id"); !id.empty()) identity_.id = std::move(id);
    write_delta(Json::object(), events);
  } else if (type == "content_block_start") {
    begin_block(index, member(event, "content_block"), events);
  } else if (type == "content_block_delta") {
    add_to_block(index, member(event, "delta"), events);
  } else if (type == "content_block_stop") {
    end_block(index, events);
  } else if (type == "message_delta") {
    const Json& delta = member(event, "delta");
    if (std::string reason = text_in(delta, "stop_reason"); !reason.empty()) stop_reason_ = std::move(reason);
    stop_sequence_ = text_in(delta, "stop_sequence");
  } else if (type == "message_stop") {
    end(events);
  }
  return {};  // pings, and events that newer servers may add
}

// ---- One reply ----

Result<std::string> to_completion(std::string_view text, const Identity& identity) {
  TRY(const Json reply, parse(text));
  if (const auto complaint = error_in(reply))
    return fail(Errc::upstream_failed, "the server answered with an error: {}", complaint->message);
  const Json& content = member(reply, "content");
  if (!content.is_array())
    return fail(Errc::upstream_failed, "the reply of the server is not a message: it has no content");
  std::string said, thought;
  Json calls = Json::array(), thoughts = Json::array();
  for (const Json& block : content) {
    const std::string type = text_in(block, "type");
    if (type == "text") said += text_in(block, "text");
    if (type == "thinking") thought += text_in(block, "thinking");
    if (Json kept = signed_thought(block); !kept.is_null()) thoughts.push_back(std::move(kept));
    if (type != "tool_use") continue;
    const Json& input = member(block, "input");
    const std::string arguments = input.is_null() ? "{}" : base::json_text(input);
    calls.push_back({{"id", text_in(block, "id")},
                     {"type", "function"},
                     {"function", {{"name", text_in(block, "name")}, {"arguments", arguments}}}});
  }
  const bool has_called = !calls.empty();
  Json message{{"role", "assistant"}, {"content", said}};
  if (said.empty() && has_called) message["content"] = nullptr;
  if (!thought.empty()) message["reasoning_content"] = thought;
  if (!thoughts.empty()) message["thinking_blocks"] = std::move(thoughts);
  if (has_called) message["tool_calls"] = std::move(calls);
  Json choice{{"index", 0},
              {"message", std::move(message)},
              {"finish_reason", finish_reason(text_in(reply, "stop_reason"), has_called)}};
  if (const std::string sequence = text_in(reply, "stop_sequence"); !sequence.empty())
    choice["stop_reason"] = sequence;
  Json completion = envelope(identity, "chat.completion");
  if (const std::string id = text_in(reply, "id"); !id.empty()) completion["id"] = id;
  completion["choices"] = Json::array({std::move(choice)});
  if (Json usage = usage_of(member(reply, "usage")); !usage.is_null()) completion["usage"] = std::move(usage);
  return base::json_text(completion);
}

// ---- Replies that stay as they are ----

namespace {

void take_usage(const Json& usage, Usage& out) {
  const Json told = usage_of(usage);
  if (told.is_null()) return;
  out.input = told["prompt_tokens"].get<Tokens>();
  out.answer = told["completion_tokens"].get<Tokens>();
  const Json& details = told["prompt_tokens_details"];
  out.cached = details["cached_tokens"].get<Tokens>();
  out.written = details["cache_creation_tokens"].get<Tokens>();
  out.written_hour = static_cast<Tokens>(tokens_in(details, "cache_creation_hour_tokens"));
  out.has_other_price = told.contains("service_tier");
}

// Figures of usage are told by several events, each with the newest of some of them.
class NativeEvents {
 public:
  void read(AnswerEvent& event) {
    constexpr std::string_view words = R"({"type":"content_block_delta")";  // most events
    if (event.data.empty()) return;
    if (event.data.starts_with(words)) {
      event.is_broken = !base::is_whole_object(event.data);
      return;
    }
    const Json json = base::parse_json(event.data);
    event.is_broken = !json.is_object();
    const std::string type = text_in(json, "type");
    event.is_done = type == "message_stop" || type == "error";
    event.facts.is_error = type == "error";
    for (const Json* object : {&member(json, "message"), &json}) add_usage(*object, usage_);
    if (type == "message_start" || type == "message_delta") take_usage(usage_, event.facts.usage);
    if (const std::string reason = text_in(member(json, "delta"), "stop_reason"); !reason.empty())
      event.facts.finish_reason = finish_reason(reason, false);
  }

 private:
  Json usage_ = Json::object();
};

ReplyFacts native_facts(std::string_view body) {
  ReplyFacts facts;
  const Json reply = base::parse_json(body);
  facts.is_object = reply.is_object();
  take_usage(member(reply, "usage"), facts.usage);
  if (const std::string reason = text_in(reply, "stop_reason"); !reason.empty())
    facts.finish_reason = finish_reason(reason, false);
  facts.is_error = !member(reply, "error").is_null();
  facts.has_answer = member(reply, "content").is_array();
  return facts;
}

}  // namespace

base::ReplyForm native_form() {
  auto events = std::make_shared<NativeEvents>();
  return {[events](AnswerEvent& event) { events->read(event); }, native_facts};
}

std::string to_error(int status, std::string_view body) {
  if (const auto reply = parse(body))
    if (const auto complaint = error_in(*reply)) return base::json_text(error_object(*complaint, status));
  const std::string_view text = base::trim(body).substr(0, longest_shown);
  const bool is_text = !text.empty() && text.front() != '<' && base::is_valid_utf8(text);
  const std::string message =
      is_text ? std::string(text) : fmt::format("the server answered with status {}", status);
  return base::json_text(error_object({{}, message}, status));
}

}  // namespace plimsoll::anthropic
