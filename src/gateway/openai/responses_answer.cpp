#include "gateway/openai/responses_answer.hpp"

#include "base/clock.hpp"
#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/log.hpp"
#include "base/private_words.hpp"

namespace plimsoll::gateway {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

Json or_else(const Json& value, const Json& other) {
  return value.is_null() ? other : value;
}

Json usage_json(const Json& chat) {
  if (!chat.is_object()) return nullptr;
  return {{"input_tokens", or_else(member(chat, "prompt_tokens"), 0)},
          {"input_tokens_details",
           {{"cached_tokens", or_else(member(member(chat, "prompt_tokens_details"), "cached_tokens"), 0)}}},
          {"output_tokens", or_else(member(chat, "completion_tokens"), 0)},
          {"output_tokens_details",
           {{"reasoning_tokens",
             or_else(member(member(chat, "completion_tokens_details"), "reasoning_tokens"), 0)}}},
          {"total_tokens", or_else(member(chat, "total_tokens"), 0)}};
}

}  // namespace

Json ResponsesAnswer::opening(const Json& request, const std::string& id) {
  Json response{{"id", id},
                {"object", "response"},
                {"created_at", base::utc_ms() / 1'000},
                {"status", "in_progress"},
                {"error", nullptr},
                {"incomplete_details", nullptr}};
  for (const char* key : {"instructions", "max_output_tokens", "model"}) response[key] = member(request, key);
  response["output"] = Json::array();
  response["parallel_tool_calls"] = or_else(member(request, "parallel_tool_calls"), true);
  response["previous_response_id"] = member(request, "previous_response_id");
  response["reasoning"] = or_else(member(request, "reasoning"), {{"effort", nullptr}, {"summary", nullptr}});
  response["store"] = or_else(member(request, "store"), true);
  response["temperature"] = member(request, "temperature");
  response["text"] = or_else(member(request, "text"), {{"format", {{"type", "text"}}}});
  response["tool_choice"] = or_else(member(request, "tool_choice"), "auto");
  response["tools"] = or_else(member(request, "tools"), Json::array());
  response["top_p"] = member(request, "top_p");
  response["truncation"] = or_else(member(request, "truncation"), "auto");
  response["usage"] = nullptr;
  response["user"] = member(request, "user");
  response["metadata"] = or_else(member(request, "metadata"), Json::object());
  return response;
}

// ---- Events ----

void ResponsesAnswer::emit(std::string& out, std::string_view type, const Json& fields) {
  if (silent_) return;
  Json event{{"type", type}, {"sequence_number", number_++}};
  event.update(fields);
  out.append("event: ").append(type).append("\ndata: ");
  base::append_json(out, event);
  out += "\n\n";
}

void ResponsesAnswer::begin_stream(std::string& out) {
  if (begun_) return;
  begun_ = true;
  emit(out, "response.created", {{"response", response_}});
  emit(out, "response.in_progress", {{"response", response_}});
}

Json ResponsesAnswer::part_json(const Item& item, std::string_view said) {
  if (item.kind == Kind::refusal) return {{"type", "refusal"}, {"refusal", said}};
  if (item.kind == Kind::thought) return {{"type", "reasoning_text"}, {"text", said}};
  return {
      {"type", "output_text"}, {"text", said}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
}

Json ResponsesAnswer::item_json(const Item& item, bool whole) const {
  const char* status = !whole ? "in_progress" : item.cut ? "incomplete" : "completed";
  if (item.kind == Kind::call)
    return {{"type", "function_call"},
            {"id", item.id},
            {"call_id", item.call_id},
            {"name", item.name},
            {"arguments", whole ? item.said : ""},
            {"status", status}};
  Json content = whole ? Json::array({part_json(item, item.said)}) : Json::array();
  if (item.kind == Kind::thought)
    return {{"type", "reasoning"},
            {"id", item.id},
            {"summary", Json::array()},
            {"content", std::move(content)},
            {"status", status}};
  return {{"type", "message"},
          {"id", item.id},
          {"status", status},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

std::size_t ResponsesAnswer::open(Item item, std::string& out) {
  const std::size_t index = items_.size();
  const std::string tail = response_["id"].get<std::string>().substr(sizeof("resp_") - 1);
  const char* prefix = item.kind == Kind::call ? "fc" : item.kind == Kind::thought ? "rs" : "msg";
  item.id = fmt::format("{}_{}_{}", prefix, tail, index);
  emit(out, "response.output_item.added", {{"output_index", index}, {"item", item_json(item, false)}});
  if (item.kind == Kind::text || item.kind == Kind::refusal)
    emit(
        out, "response.content_part.added",
        {{"item_id", item.id}, {"output_index", index}, {"content_index", 0}, {"part", part_json(item, "")}});
  items_.push_back(std::move(item));
  return index;
}

void ResponsesAnswer::close(std::size_t index, std::string& out) {
  Item& item = items_[index];
  if (std::exchange(item.closed, true)) return;
  item.cut = reason_ == "length" || reason_ == "content_filter";
  const Json place{{"item_id", item.id}, {"output_index", index}};
  const auto with = [&](const Json& more) {
    Json fields = place;
    fields.update(more);
    return fields;
  };
  switch (item.kind) {
    case Kind::call:
      emit(out, "response.function_call_arguments.done",
           with({{"name", item.name}, {"arguments", item.said}}));
      break;
    case Kind::thought:
      emit(out, "response.reasoning_text.done", with({{"content_index", 0}, {"text", item.said}}));
      break;
    case Kind::text:
      emit(out, "response.output_text.done",
           with({{"content_index", 0}, {"text", item.said}, {"logprobs", Json::array()}}));
      break;
    case Kind::refusal:
      emit(out, "response.refusal.done", with({{"content_index", 0}, {"refusal", item.said}}));
      break;
  }
  if (item.kind == Kind::text || item.kind == Kind::refusal)
    emit(out, "response.content_part.done",
         with({{"content_index", 0}, {"part", part_json(item, item.said)}}));
  emit(out, "response.output_item.done", {{"output_index", index}, {"item", item_json(item, true)}});
}

// Pieces of several calls may alternate, so calls stay open to the end.
void ResponsesAnswer::close_text(std::string& out) {
  if (open_text_) close(*std::exchange(open_text_, std::nullopt), out);
}

// ---- Events of the chat ----

void ResponsesAnswer::say(Kind kind, const std::string& words, std::string& out) {
  if (words.empty()) return;
  if (!open_text_ || items_[*open_text_].kind != kind) {
    close_text(out);
    open_text_ = open({kind, {}, {}, {}, {}}, out);
  }
  Item& item = items_[*open_text_];
  item.said += words;
  Json fields{{"item_id", item.id}, {"output_index", *open_text_}, {"content_index", 0}, {"delta", words}};
  if (kind == Kind::text) fields["logprobs"] = Json::array();
  emit(out,
       kind == Kind::thought ? "response.reasoning_text.delta"
       : kind == Kind::text  ? "response.output_text.delta"
                             : "response.refusal.delta",
       fields);
}

// Pieces of one call share an index; complete calls may have none.
void ResponsesAnswer::take_call(const Json& piece, std::string& out) {
  constexpr std::size_t most_calls = 1'000;
  const Json& at = member(piece, "index");
  const std::size_t chat_index = at.is_number_unsigned() ? at.get<std::size_t>() : calls_.size();
  const Json& function = member(piece, "function");
  if (!calls_.contains(chat_index)) {
    if (calls_.size() >= most_calls) return;
    close_text(out);
    std::string id = text_in(piece, "id");
    if (id.empty()) id = fmt::format("call_{}_{}", response_["id"].get<std::string>(), chat_index);
    calls_[chat_index] = open({Kind::call, {}, {}, std::move(id), text_in(function, "name")}, out);
  }
  const std::size_t index = calls_[chat_index];
  const Json& arguments = member(function, "arguments");
  const std::string words =
      arguments.is_object() ? base::json_text(arguments) : text_in(function, "arguments");
  if (words.empty()) return;
  items_[index].said += words;
  emit(out, "response.function_call_arguments.delta",
       {{"item_id", items_[index].id}, {"output_index", index}, {"delta", words}});
}

void ResponsesAnswer::take_delta(const Json& delta, std::string& out) {
  const std::string thought = text_in(delta, "reasoning_content");
  say(Kind::thought, thought.empty() ? text_in(delta, "reasoning") : thought, out);
  say(Kind::text, text_in(delta, "content"), out);
  say(Kind::refusal, text_in(delta, "refusal"), out);
  for (const Json& piece : list_in(member(delta, "tool_calls"))) take_call(piece, out);
}

void ResponsesAnswer::take_chunk(const Json& chunk, std::string& out) {
  if (const std::string model = text_in(chunk, "model"); !model.empty()) response_["model"] = model;
  if (const Json& usage = member(chunk, "usage"); usage.is_object()) usage_ = usage;
  begin_stream(out);
  const Json& choices = member(chunk, "choices");
  if (!choices.is_array() || choices.empty()) return;
  const Json& choice = choices.front();
  const Json& message = member(choice, "message");
  take_delta(message.is_null() ? member(choice, "delta") : message, out);
  if (std::string reason = text_in(choice, "finish_reason"); !reason.empty()) reason_ = std::move(reason);
}

// ---- The end ----

void ResponsesAnswer::settle() {
  const bool cut = reason_ == "length", filtered = reason_ == "content_filter";
  response_["status"] = cut || filtered ? "incomplete" : "completed";
  if (cut) response_["incomplete_details"] = {{"reason", "max_output_tokens"}};
  if (filtered) response_["incomplete_details"] = {{"reason", "content_filter"}};
  for (const Item& item : items_) response_["output"].push_back(item_json(item, true));
  response_["usage"] = usage_json(usage_);
  if (!plimsoll_.is_null()) response_["plimsoll"] = plimsoll_;
  if (!source_nodes_.is_null()) response_["source_nodes"] = source_nodes_;
  if (!keep_) {
    response_["store"] = false;
    return;
  }
  const auto kept = keep_(response_);
  if (kept) return;
  log::error("cannot store a response",
             {{"response", response_["id"].get<std::string>()}, {"why", kept.error().what}});
  response_["store"] = false;
  Json& warnings = response_["plimsoll"]["warnings"];
  if (!warnings.is_array()) warnings = Json::array();
  warnings.push_back("the response was not stored: " + base::for_clients(kept.error().what));
}

void ResponsesAnswer::end(std::string& out) {
  begin_stream(out);
  for (std::size_t i = 0; i < items_.size(); ++i) close(i, out);
  settle();
  const bool whole = response_["status"] == "completed";
  emit(out, whole ? "response.completed" : "response.incomplete", {{"response", response_}});
}

void ResponsesAnswer::fail_with(std::string message, std::string& out) {
  begin_stream(out);
  response_["status"] = "failed";
  response_["store"] = false;
  response_["error"] = {{"code", "server_error"}, {"message", std::move(message)}};
  emit(out, "response.failed", {{"response", response_}});
}

std::string ResponsesAnswer::as_one() const {
  return base::json_text(response_);
}

}  // namespace plimsoll::gateway
