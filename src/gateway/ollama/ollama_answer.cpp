#include "gateway/ollama/ollama_answer.hpp"

#include <algorithm>
#include <utility>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/http/answer_json.hpp"
#include "gateway/ollama/ollama_models.hpp"

namespace plimsoll::gateway {
namespace {

using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

// Servers use different field names.
std::string thought_in(const Json& message) {
  std::string thought = text_in(message, "reasoning_content");
  return thought.empty() ? text_in(message, "reasoning") : thought;
}

std::string said_in(const Json& error) {
  if (error.is_string()) return error.get<std::string>();
  const std::string message = text_in(error, "message");
  return message.empty() ? base::json_text(error) : message;
}

void put_logprobs(const Json& choice, Json& line) {
  const Json& content = member(member(choice, "logprobs"), "content");
  if (content.is_array() && !content.empty()) line["logprobs"] = content;
}

std::int64_t nanoseconds(std::chrono::steady_clock::duration time) {
  // At least 1: clients divide by it.
  return std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// Servers based on llama.cpp report the time; for others it is measured here.
std::int64_t told_or_seen(const Json& told_ms, std::chrono::steady_clock::duration seen) {
  const double most_ms = 1e12;
  if (!told_ms.is_number() || !(told_ms.get<double>() >= 0 && told_ms.get<double>() < most_ms))
    return nanoseconds(seen);
  return nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(told_ms.get<double>())));
}

}  // namespace

std::string ollama_error(std::string_view what) {
  return base::json_text(Json{{"error", what}});
}

void OllamaAnswer::planned(const Trace& trace) {
  const Tokens window = trace.window;
  if (num_ctx_ && *num_ctx_ > window && window > 0)
    add_note(fmt::format("options.num_ctx is {}, but the served window is {}",
                         base::with_thousands(*num_ctx_), base::with_thousands(window)));
}

Json OllamaAnswer::opening() const {
  return {{"model", model_}, {"created_at", ollama_time(std::chrono::system_clock::now())}};
}

void OllamaAnswer::put_text(Json& line, const std::string& text, const std::string& thought) const {
  if (route_ == OllamaRoute::generate) {
    line["response"] = text;
    if (!thought.empty()) line["thinking"] = thought;
    return;
  }
  Json message{{"role", "assistant"}, {"content", text}};
  if (!thought.empty()) message["thinking"] = thought;
  line["message"] = std::move(message);
}

// In Ollama's format arguments are an object.
Json OllamaAnswer::calls_json() {
  Json all = Json::array();
  for (auto& [index, call] : calls_) {
    Json arguments = base::trim(call.arguments).empty() ? Json::object() : parsed(call.arguments);
    if (!arguments.is_object()) {
      notes_.push_back(fmt::format(
          "the arguments of the call of '{}' are not a JSON object; they are in invalid_json", call.name));
      arguments = {{"invalid_json", call.arguments}};
    }
    Json out;
    if (!call.id.empty()) out["id"] = call.id;
    out["function"] = {{"index", all.size()}, {"name", call.name}, {"arguments", std::move(arguments)}};
    all.push_back(std::move(out));
  }
  calls_.clear();
  return all;
}

void OllamaAnswer::put_calls(std::string& lines) {
  if (calls_.empty()) return;
  Json line = opening();
  put_text(line, "", "");
  line["message"]["tool_calls"] = calls_json();
  line["done"] = false;
  lines += base::json_text(line) + "\n";
}

// Pieces of one call share an index; complete calls may have none.
void OllamaAnswer::take_calls(const Json& calls) {
  constexpr std::size_t most_calls = 1'000;
  if (!calls.is_array()) return;
  for (const Json& piece : calls) {
    const Json& at = member(piece, "index");
    const std::size_t index = at.is_number_unsigned() ? at.get<std::size_t>() : calls_.size();
    if (calls_.size() >= most_calls && !calls_.contains(index)) return;
    Call& call = calls_[index];
    const Json& function = member(piece, "function");
    if (const std::string id = text_in(piece, "id"); !id.empty()) call.id = id;
    call.name += text_in(function, "name");
    const Json& arguments = member(function, "arguments");
    if (arguments.is_object()) call.arguments = base::json_text(arguments);
    if (arguments.is_string()) call.arguments += arguments.get_ref<const std::string&>();
  }
}

void OllamaAnswer::take_extras(const Json& chunk) {
  if (const Json& usage = member(chunk, "usage"); usage.is_object()) usage_ = usage;
  if (const Json& timings = member(chunk, "timings"); timings.is_object()) timings_ = timings;
  if (model_.empty()) model_ = text_in(chunk, "model");
}

void OllamaAnswer::take_choice(const Json& choice, std::string& lines) {
  if (first_ == Clock::time_point{}) first_ = Clock::now();
  const Json& delta = member(choice, "delta");
  const std::string text = delta.is_object() ? text_in(delta, "content") : text_in(choice, "text");
  const std::string thought = thought_in(delta);
  if (!text.empty() || !thought.empty()) {
    Json line = opening();
    put_text(line, text, thought);
    put_logprobs(choice, line);
    line["done"] = false;
    lines += base::json_text(line) + "\n";
  }
  take_calls(member(delta, "tool_calls"));
  if (std::string reason = text_in(choice, "finish_reason"); !reason.empty()) reason_ = std::move(reason);
}

void OllamaAnswer::take(std::string_view data, std::string& lines) {
  if (ended_ || data.empty()) return;
  const Json chunk = parsed(data);
  if (!chunk.is_object()) return;
  if (const Json& error = member(chunk, "error"); !error.is_null()) return break_off(said_in(error), lines);
  take_extras(chunk);
  const Json& choices = member(chunk, "choices");
  if (choices.is_array() && !choices.empty()) take_choice(choices.front(), lines);
}

void OllamaAnswer::put_end(Json& line) {
  const auto now = Clock::now();
  if (first_ == Clock::time_point{}) first_ = now;
  line["done"] = true;
  line["done_reason"] = reason_.empty() || reason_ == "tool_calls" ? "stop" : reason_;
  line["total_duration"] = nanoseconds(now - begun_);
  line["load_duration"] = 0;
  const Json& read = member(usage_, "prompt_tokens");
  if (read.is_number_unsigned()) line["prompt_eval_count"] = read;
  line["prompt_eval_duration"] = told_or_seen(member(timings_, "prompt_ms"), first_ - begun_);
  const Json& written = member(usage_, "completion_tokens");
  if (written.is_number_unsigned()) line["eval_count"] = written;
  line["eval_duration"] = told_or_seen(member(timings_, "predicted_ms"), now - first_);
  if (!source_nodes_.is_null()) line["source_nodes"] = source_nodes_;
  for (const std::string& note : notes_) plimsoll_["warnings"].push_back(note);
  if (!plimsoll_.is_null()) line["plimsoll"] = plimsoll_;
}

void OllamaAnswer::break_off(std::string what, std::string& lines) {
  if (!std::exchange(ended_, true)) lines += ollama_error(what) + "\n";
}

void OllamaAnswer::finish(bool /*complete*/, std::string& lines) {
  if (std::exchange(ended_, true)) return;
  if (reason_.empty() && first_ == Clock::time_point{}) {
    lines += ollama_error("the upstream's answer was cut off before it started") + "\n";
    return;
  }
  if (route_ == OllamaRoute::chat) put_calls(lines);
  Json line = opening();
  put_text(line, "", "");
  put_end(line);
  lines += base::json_text(line) + "\n";
}

Result<std::string> OllamaAnswer::whole(std::string_view completion, bool streams) {
  const Json reply = parsed(completion);
  const Json& choices = member(reply, "choices");
  if (!choices.is_array() || choices.empty())
    return fail(Errc::upstream_failed, "the upstream's answer is not a completion");
  const Json& choice = choices.front();
  const Json& message = member(choice, "message");
  take_extras(reply);
  reason_ = text_in(choice, "finish_reason");
  take_calls(member(message, "tool_calls"));
  Json line = opening();
  put_text(line, message.is_object() ? text_in(message, "content") : text_in(choice, "text"),
           thought_in(message));
  if (route_ == OllamaRoute::chat && !calls_.empty()) line["message"]["tool_calls"] = calls_json();
  put_logprobs(choice, line);
  put_end(line);
  return base::json_text(line) + (streams ? "\n" : "");
}

std::string OllamaAnswer::error(int /*status*/, std::string /*body*/, std::string_view said) const {
  return ollama_error(said);
}

std::string OllamaAnswer::loaded(bool unloads) const {
  Json line = opening();
  put_text(line, "", "");
  line["done"] = true;
  line["done_reason"] = unloads ? "unload" : "load";
  return base::json_text(line);
}

}  // namespace plimsoll::gateway
