#include "gateway/anthropic/messages_answer.hpp"

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "gateway/http/answer_json.hpp"

namespace plimsoll::gateway {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

Tokens tokens_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned()
             ? static_cast<Tokens>(std::min<std::uint64_t>(value.get<std::uint64_t>(), 1U << 30))
             : 0;
}

// Arguments that are no JSON object stand under a name that says so.
Json input_of(const std::string& arguments) {
  Json input = arguments.empty() ? Json::object() : parsed(arguments);
  return input.is_object() ? input : Json{{"invalid_json", arguments}};
}

std::string_view error_type(int status) {
  switch (status) {
    case 400: return "invalid_request_error";
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 503:
    case 529: return "overloaded_error";
    case 504: return "timeout_error";
    default: return status >= 400 && status < 500 ? "invalid_request_error" : "api_error";
  }
}

}  // namespace

std::string messages_error(int status, std::string_view what) {
  return base::json_text(Json{
      {"type", "error"}, {"error", {{"type", error_type(status)}, {"message", what}}}, {"detail", what}});
}

// ---- Events ----

void MessagesAnswer::emit(std::string& out, std::string_view type, const Json& fields) {
  if (silent_) return;
  Json event{{"type", type}};
  event.update(fields);
  out.append("event: ").append(type).append("\ndata: ");
  base::append_json(out, event);
  out += "\n\n";
}

void MessagesAnswer::begin_stream(std::string& out) {
  if (begun_) return;
  begun_ = true;
  emit(out, "message_start",
       {{"message",
         {{"id", id_},
          {"type", "message"},
          {"role", "assistant"},
          {"model", model_},
          {"content", Json::array()},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr},
          {"usage", {{"input_tokens", planned_input_}, {"output_tokens", 0}}}}}});
}

void MessagesAnswer::open(Kind kind, Json block, std::string& out) {
  close(out);
  emit(out, "content_block_start", {{"index", content_.size()}, {"content_block", block}});
  content_.push_back(std::move(block));
  open_ = kind;
}

void MessagesAnswer::close(std::string& out) {
  if (!open_) return;
  if (*open_ == Kind::thought)
    add_to_open({{"type", "signature_delta"}, {"signature", content_.back()["signature"]}}, out);
  open_.reset();
  emit(out, "content_block_stop", {{"index", content_.size() - 1}});
}

void MessagesAnswer::add_to_open(const Json& delta, std::string& out) {
  emit(out, "content_block_delta", {{"index", content_.size() - 1}, {"delta", delta}});
}

// ---- What the chat says ----

void MessagesAnswer::say(Kind kind, const std::string& words, std::string& out) {
  if (words.empty()) return;
  if (open_ == Kind::call) {  // more of the call may come, and a block that was closed cannot go on
    said_in_call_.emplace_back(kind, words);
    return;
  }
  const bool thought = kind == Kind::thought;
  const char* field = thought ? "thinking" : "text";
  if (open_ != kind) {
    Json block{{"type", field}, {field, ""}};
    if (thought) block["signature"] = "";
    open(kind, std::move(block), out);
  }
  content_.back()[field].get_ref<std::string&>() += words;
  add_to_open({{"type", thought ? "thinking_delta" : "text_delta"}, {field, words}}, out);
}

// What a server of Anthropic's has to get back with its thoughts. In a stream the text came before.
void MessagesAnswer::take_thought(const Json& block, std::string& out) {
  if (text_in(block, "type") == "redacted_thinking") {
    open(Kind::redacted, {{"type", "redacted_thinking"}, {"data", text_in(block, "data")}}, out);
    return close(out);
  }
  say(Kind::thought, text_in(block, "thinking"), out);
  if (open_ != Kind::thought)
    open(Kind::thought, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, out);
  content_.back()["signature"] = text_in(block, "signature");
  close(out);
}

// Blocks come one after the other: the first call goes out as it comes, the others when all is said.
void MessagesAnswer::take_call(const Json& piece, std::string& out) {
  constexpr std::size_t most_calls = 1'000;
  const Json& at = member(piece, "index");
  const std::size_t index = at.is_number_unsigned() ? at.get<std::size_t>() : calls_.size();
  const Json& function = member(piece, "function");
  const bool is_new = !calls_.contains(index);
  if (is_new && calls_.size() >= most_calls) return;
  Call& call = calls_[index];
  if (is_new) {
    call.id = text_in(piece, "id");
    if (call.id.empty()) call.id = fmt::format("toolu_{}_{}", id_, index);
    call.name = text_in(function, "name");
  }
  if (is_new && calls_.size() == 1) {
    streamed_call_ = index;
    open(Kind::call, {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", Json::object()}},
         out);
  }
  const Json& arguments = member(function, "arguments");
  const std::string words =
      arguments.is_object() ? base::json_text(arguments) : text_in(function, "arguments");
  call.arguments += words;
  if (index == streamed_call_ && open_ == Kind::call && !words.empty())
    add_to_open({{"type", "input_json_delta"}, {"partial_json", words}}, out);
}

void MessagesAnswer::take_chunk(const Json& chunk, std::string& out) {
  if (model_.empty()) model_ = text_in(chunk, "model");
  if (const Json& usage = member(chunk, "usage"); usage.is_object()) usage_ = usage;
  begin_stream(out);
  const Json& choices = member(chunk, "choices");
  if (!choices.is_array() || choices.empty()) return;
  const Json& choice = choices.front();
  const Json& message = member(choice, "message");
  const Json& delta = message.is_null() ? member(choice, "delta") : message;
  const Json& blocks = list_in(member(delta, "thinking_blocks"));
  const std::string thought = text_in(delta, "reasoning_content");
  // A whole answer has its thoughts in these blocks again.
  if (message.is_null() || blocks.empty())
    say(Kind::thought, thought.empty() ? text_in(delta, "reasoning") : thought, out);
  for (const Json& block : blocks) take_thought(block, out);
  say(Kind::text, text_in(delta, "content"), out);
  say(Kind::text, text_in(delta, "refusal"), out);
  for (const Json& piece : list_in(member(delta, "tool_calls"))) take_call(piece, out);
  if (std::string reason = text_in(choice, "finish_reason"); !reason.empty()) reason_ = std::move(reason);
  // Anthropic's servers and vLLM say which stop sequence it was.
  if (const Json& sequence = member(choice, "stop_reason"); sequence.is_string()) stop_sequence_ = sequence;
}

// ---- The end ----

Json MessagesAnswer::usage_json() const {
  const Tokens read = usage_.is_null() ? planned_input_ : tokens_in(usage_, "prompt_tokens");
  const Json& details = member(usage_, "prompt_tokens_details");
  const Tokens cached = std::min(read, tokens_in(details, "cached_tokens"));
  const Tokens written = std::min(read - cached, tokens_in(details, "cache_creation_tokens"));
  return {{"input_tokens", read - cached - written},
          {"cache_creation_input_tokens", written},
          {"cache_read_input_tokens", cached},
          {"output_tokens", tokens_in(usage_, "completion_tokens")}};
}

std::string_view MessagesAnswer::stop_reason() const {
  if (reason_ == "length") return "max_tokens";
  if (reason_ == "content_filter") return "refusal";
  if (reason_ == "tool_calls" || !calls_.empty()) return "tool_use";
  return stop_sequence_.is_null() ? "end_turn" : "stop_sequence";
}

void MessagesAnswer::end(std::string& out) {
  begin_stream(out);
  close(out);
  for (const auto& [kind, words] : said_in_call_) say(kind, words, out);
  close(out);
  for (const auto& [index, call] : calls_) {
    if (index != streamed_call_) {
      open(Kind::call,
           {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", Json::object()}}, out);
      add_to_open({{"type", "input_json_delta"}, {"partial_json", call.arguments}}, out);
      close(out);
    }
    for (Json& block : content_)
      if (block["type"] == "tool_use" && block["id"] == call.id) block["input"] = input_of(call.arguments);
  }
  Json last{{"delta", {{"stop_reason", stop_reason()}, {"stop_sequence", stop_sequence_}}},
            {"usage", usage_json()}};
  if (!plimsoll_.is_null()) last["plimsoll"] = plimsoll_;
  if (!source_nodes_.is_null()) last["source_nodes"] = source_nodes_;
  emit(out, "message_delta", last);
  emit(out, "message_stop", Json::object());
}

void MessagesAnswer::fail_with(std::string message, std::string& out) {
  emit(out, "error", {{"error", {{"type", "api_error"}, {"message", std::move(message)}}}});
}

std::string MessagesAnswer::as_one() const {
  Json message{{"id", id_},
               {"type", "message"},
               {"role", "assistant"},
               {"model", model_},
               {"content", content_},
               {"stop_reason", stop_reason()},
               {"stop_sequence", stop_sequence_},
               {"usage", usage_json()}};
  if (!plimsoll_.is_null()) message["plimsoll"] = plimsoll_;
  if (!source_nodes_.is_null()) message["source_nodes"] = source_nodes_;
  return base::json_text(message);
}

std::string MessagesAnswer::error(int status, std::string /*body*/, std::string_view said) const {
  return messages_error(status, said);
}

}  // namespace plimsoll::gateway
