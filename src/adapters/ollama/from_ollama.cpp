#include "adapters/ollama/from_ollama.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::ollama {
namespace {

using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

constexpr std::size_t longest_shown = 500;

Result<Json> parse(std::string_view text) {
  Json json;
  if (base::check_json_shape(text, "the reply")) json = base::parse_json(text);
  if (!json.is_object()) return fail(Errc::upstream_failed, "what Ollama replied is no JSON object");
  return json;
}

// Its message, where the reply tells of an error.
std::optional<std::string> error_in(const Json& reply) {
  const Json& error = member(reply, "error");
  if (error.is_null()) return std::nullopt;
  if (error.is_string()) return error.get<std::string>();
  const std::string message = text_in(error, "message");
  return message.empty() ? base::json_text(error) : message;
}

Json error_object(const std::string& message, int status) {
  const bool is_ours = status >= 400 && status < 500;
  return {{"error",
           {{"message", message},
            {"type", is_ours ? "invalid_request_error" : "api_error"},
            {"param", nullptr},
            {"code", nullptr}}}};
}

// Null where Ollama did not count the input: a zero would be a lie.
Json usage_of(const Json& reply) {
  const Json& input = member(reply, "prompt_eval_count");
  const Json& answer = member(reply, "eval_count");
  if (!input.is_number_unsigned()) return nullptr;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const auto read = std::min(input.get<std::uint64_t>(), most);
  const auto written = answer.is_number_unsigned() ? std::min(answer.get<std::uint64_t>(), most) : 0;
  return {{"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
}

// How long it took, as llama.cpp's server tells it; null where Ollama does not.
Json timings_of(const Json& reply) {
  const Json& read = member(reply, "prompt_eval_duration");
  const Json& written = member(reply, "eval_duration");
  if (!read.is_number_unsigned() || !written.is_number_unsigned()) return nullptr;
  constexpr double ns_per_ms = 1e6;
  return {{"prompt_ms", read.get<double>() / ns_per_ms}, {"predicted_ms", written.get<double>() / ns_per_ms}};
}

std::string_view finish_reason(const Json& reply, bool has_called) {
  if (text_in(reply, "done_reason") == "length") return "length";
  return has_called ? "tool_calls" : "stop";
}

// `index` goes on from call to call.
Json tool_calls_of(const Json& message, const Identity& identity, std::size_t& index, bool with_index) {
  Json calls = Json::array();
  const Json& given = member(message, "tool_calls");
  if (!given.is_array()) return calls;
  for (const Json& call : given) {
    const Json& function = member(call, "function");
    const Json& arguments = member(function, "arguments");
    std::string id = text_in(call, "id");
    if (id.empty()) id = fmt::format("call_{}_{}", identity.id.substr(identity.id.rfind('-') + 1), index);
    Json out;
    if (with_index) out["index"] = index;
    out["id"] = id;
    out["type"] = "function";
    out["function"] = {{"name", text_in(function, "name")},
                       {"arguments", arguments.is_null() ? "{}" : base::json_text(arguments)}};
    calls.push_back(std::move(out));
    ++index;
  }
  return calls;
}

Json envelope(const Identity& identity, const char* object) {
  return {{"id", identity.id},
          {"object", object},
          {"created", identity.created},
          {"model", identity.model},
          {"system_fingerprint", "fp_ollama"}};
}

void write_event(std::string& events, const Json& json) {
  events.append("data: ").append(base::json_text(json)).append("\n\n");
}

Json logprobs_of(const Json& reply) {
  const Json& given = member(reply, "logprobs");
  if (!given.is_array() || given.empty()) return nullptr;
  return {{"content", given}};
}

}  // namespace

Result<void> LineReader::add(std::string_view bytes) {
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = looked_ = 0;
  } else if (begin_ > bytes_.size() / 2) {
    bytes_.erase(0, begin_);
    looked_ -= begin_;
    begin_ = 0;
  }
  bytes_.append(bytes);
  const bool may_be_too_long = bytes_.size() - begin_ > longest_line;
  if (may_be_too_long && bytes_.find('\n', looked_) == std::string::npos)
    return fail(Errc::upstream_failed, "a line of Ollama's reply is longer than {}",
                base::human_bytes(longest_line));
  return {};
}

std::optional<std::string_view> LineReader::next() {
  while (true) {
    const std::size_t end = bytes_.find('\n', looked_);
    if (end == std::string::npos) {
      looked_ = bytes_.size();
      return std::nullopt;
    }
    const std::string_view line = base::trim(std::string_view(bytes_).substr(begin_, end - begin_));
    begin_ = looked_ = end + 1;
    if (!line.empty()) return line;
  }
}

std::string_view LineReader::rest() const {
  return base::trim(std::string_view(bytes_).substr(begin_));
}

Result<void> EventWriter::take(std::string_view line, std::string& events) {
  if (ended_) return {};
  TRY(const Json reply, parse(line));
  if (const auto message = error_in(reply)) {
    write_event(events, error_object(*message, 500));
    events += "data: [DONE]\n\n";
    ended_ = true;
    return {};
  }
  const Json& message = member(reply, "message");
  Json delta = Json::object();
  if (!begun_) delta = {{"role", "assistant"}, {"content", ""}};
  if (const std::string text = text_in(message, "content"); !text.empty()) delta["content"] = text;
  if (const std::string text = text_in(message, "thinking"); !text.empty()) delta["reasoning_content"] = text;
  if (Json calls = tool_calls_of(message, identity_, tool_calls_, true); !calls.empty())
    delta["tool_calls"] = std::move(calls);
  begun_ = true;
  const bool is_last = member(reply, "done") == true;
  Json chunk = envelope(identity_, "chat.completion.chunk");
  Json logprobs = logprobs_of(reply);
  const auto write = [&](const Json& what, const Json& why) {
    Json choice{{"index", 0}, {"delta", what}, {"finish_reason", why}};
    if (!logprobs.is_null()) choice["logprobs"] = std::exchange(logprobs, nullptr);
    chunk["choices"] = Json::array({choice});
    write_event(events, chunk);
  };
  if (!delta.empty()) write(delta, nullptr);
  if (!is_last) return {};
  write(Json::object(), finish_reason(reply, tool_calls_ > 0));
  if (const Json usage = usage_of(reply); !usage.is_null()) {
    chunk["choices"] = Json::array();
    chunk["usage"] = usage;
    if (Json timings = timings_of(reply); !timings.is_null()) chunk["timings"] = std::move(timings);
    write_event(events, chunk);
  }
  events += "data: [DONE]\n\n";
  ended_ = true;
  return {};
}

Result<std::string> to_completion(std::string_view text, const Identity& identity) {
  TRY(const Json reply, parse(text));
  if (const auto message = error_in(reply)) return fail(Errc::upstream_failed, "Ollama says: {}", *message);
  if (member(reply, "done") != true)
    return fail(Errc::upstream_failed, "Ollama's reply is not a whole answer (done is not true)");
  const Json& from = member(reply, "message");
  std::size_t called = 0;
  Json calls = tool_calls_of(from, identity, called, false);
  const std::string content = text_in(from, "content");
  Json message{{"role", "assistant"}, {"content", content}};
  if (content.empty() && called > 0) message["content"] = nullptr;
  if (const std::string thought = text_in(from, "thinking"); !thought.empty())
    message["reasoning_content"] = thought;
  if (called > 0) message["tool_calls"] = std::move(calls);
  Json choice{
      {"index", 0}, {"message", std::move(message)}, {"finish_reason", finish_reason(reply, called > 0)}};
  if (Json logprobs = logprobs_of(reply); !logprobs.is_null()) choice["logprobs"] = std::move(logprobs);
  Json completion = envelope(identity, "chat.completion");
  completion["choices"] = Json::array({std::move(choice)});
  if (Json usage = usage_of(reply); !usage.is_null()) completion["usage"] = std::move(usage);
  if (Json timings = timings_of(reply); !timings.is_null()) completion["timings"] = std::move(timings);
  return base::json_text(completion);
}

std::string to_error(int status, std::string_view body) {
  if (const auto reply = parse(body))
    if (const auto message = error_in(*reply)) return base::json_text(error_object(*message, status));
  const std::string_view text = base::trim(body).substr(0, longest_shown);
  const bool is_text = !text.empty() && text.front() != '<' && base::is_valid_utf8(text);
  return base::json_text(error_object(
      is_text ? std::string(text) : fmt::format("the server answered with status {}", status), status));
}

Result<std::string> rendered_in(std::string_view text) {
  TRY(const Json reply, parse(text));
  if (const auto message = error_in(reply)) return fail(Errc::upstream_failed, "Ollama says: {}", *message);
  const Json& rendered = member(member(reply, "_debug_info"), "rendered_template");
  if (!rendered.is_string())
    return fail(Errc::unsupported, "this Ollama does not show prompts (_debug_render_only)");
  return rendered.get<std::string>();
}

}  // namespace plimsoll::ollama
