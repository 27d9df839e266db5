#include "chat/response_chat.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/json/json_member.hpp"

namespace plimsoll::chat {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

// ---- Items ----

// The type of a message is optional.
bool is_message(const Json& item) {
  const Json& type = member(item, "type");
  return type == "message" || (type.is_null() && !member(item, "role").is_null());
}

// Null: a chat has no such part.
Json part_of(const Json& part) {
  const Json& type = member(part, "type");
  if (type == "input_text" || type == "output_text" || type == "text" || type == "refusal")
    return {{"type", "text"}, {"text", text_of(member(part, type == "refusal" ? "refusal" : "text"))}};
  if (type == "input_image" && member(part, "image_url").is_string()) {
    Json image{{"url", part["image_url"]}};
    if (const Json& detail = member(part, "detail"); detail.is_string()) image["detail"] = detail;
    return {{"type", "image_url"}, {"image_url", std::move(image)}};
  }
  if (type == "input_file") {
    Json file = Json::object();
    for (const char* key : {"file_id", "file_data", "filename"})
      if (const Json& value = member(part, key); value.is_string()) file[key] = value;
    if (!file.empty()) return {{"type", "file"}, {"file", std::move(file)}};
  }
  return nullptr;
}

// A single text stays a string, which every server accepts.
Json content_of(const Json& content) {
  if (content.is_string()) return content;
  Json parts = Json::array();
  for (const Json& part : list_in(content))
    if (Json made = part_of(part); !made.is_null()) parts.push_back(std::move(made));
  if (parts.empty()) return "";
  return parts.size() == 1 && parts[0]["type"] == "text" ? parts[0]["text"] : parts;
}

std::string joined(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const Json& part : content) text += text_of(member(part, "text"));
  return text;
}

// Consecutive texts and calls of the assistant are one message of a chat.
Json& assistant_in(Json& messages) {
  if (messages.empty() || messages.back()["role"] != "assistant")
    messages.push_back({{"role", "assistant"}, {"content", nullptr}});
  return messages.back();
}

void add_call(const Json& item, Json& messages) {
  const Json& id = member(item, "call_id");
  Json call{{"id", id.is_null() ? member(item, "id") : id},
            {"type", "function"},
            {"function",
             {{"name", text_of(member(item, "name"))}, {"arguments", text_of(member(item, "arguments"))}}}};
  assistant_in(messages)["tool_calls"].push_back(std::move(call));
}

void add_message(const Json& item, Json& messages) {
  std::string role = text_of(member(item, "role"));
  if (role == "developer") role = "system";  // the older name, which every server supports
  Json content = content_of(member(item, "content"));
  if (role != "assistant") {
    messages.push_back({{"role", role.empty() ? "user" : role}, {"content", std::move(content)}});
    return;
  }
  Json& message = assistant_in(messages);
  const bool is_new = message["content"].is_null() && !message.contains("tool_calls");
  if (!is_new) {
    messages.push_back({{"role", "assistant"}, {"content", joined(content)}});
    return;
  }
  message["content"] = joined(content);
}

void add_item(const Json& item, Json& messages) {
  const Json& type = member(item, "type");
  if (type == "function_call")
    add_call(item, messages);
  else if (type == "function_call_output")
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", member(item, "call_id")},
                        {"content", content_of(member(item, "output"))}});
  else if (is_message(item))
    add_message(item, messages);
}

// Reasoning items are only for the server that made them; a chat does not need them.
bool is_known_item(const Json& item) {
  constexpr std::array<std::string_view, 3> known{"function_call", "function_call_output", "reasoning"};
  return is_message(item) || std::ranges::find(known, text_of(member(item, "type"))) != known.end();
}

// Returns the type of the first part that a chat does not support.
std::optional<std::string> unknown_part(const Json& parts) {
  for (const Json& part : list_in(parts))
    if (part_of(part).is_null()) {
      const std::string type = text_of(member(part, "type"));
      return type.empty() ? "without a type" : type;
    }
  return std::nullopt;
}

// ---- Fields ----

Json tool_of(const Json& tool) {
  Json function = tool;
  function.erase("type");
  return {{"type", "function"}, {"function", std::move(function)}};
}

void put_tools(const Json& request, Json& chat) {
  Json tools = Json::array();
  for (const Json& tool : list_in(member(request, "tools")))
    if (member(tool, "type") == "function") tools.push_back(tool_of(tool));
  if (tools.empty()) return;
  chat["tools"] = std::move(tools);
  const Json& choice = member(request, "tool_choice");
  if (choice.is_string()) chat["tool_choice"] = choice;
  if (member(choice, "type") == "function")
    chat["tool_choice"] = {{"type", "function"}, {"function", {{"name", member(choice, "name")}}}};
  if (const Json& several = member(request, "parallel_tool_calls"); !several.is_null())
    chat["parallel_tool_calls"] = several;
}

void put_form(const Json& request, Json& chat) {
  const Json& text = member(request, "text");
  const Json& format = member(text, "format");
  if (member(format, "type") == "json_object") chat["response_format"] = {{"type", "json_object"}};
  if (member(format, "type") == "json_schema") {
    Json schema = format;
    schema.erase("type");
    chat["response_format"] = {{"type", "json_schema"}, {"json_schema", std::move(schema)}};
  }
  if (const Json& words = member(text, "verbosity"); words.is_string()) chat["verbosity"] = words;
  if (const Json& effort = member(member(request, "reasoning"), "effort"); effort.is_string())
    chat["reasoning_effort"] = effort;
}

// Fields that have another name in a chat or do not concern it.
constexpr std::array<std::string_view, 20> translated{
    "instructions", "input",     "tools",      "tool_choice",       "parallel_tool_calls",
    "text",         "reasoning", "truncation", "max_output_tokens", "previous_response_id",
    "store",        "metadata",  "include",    "background",        "conversation",
    "prompt",       "stream",    "messages",   "max_tool_calls",    "stream_options"};

}  // namespace

Json items_of_input(const Json& input) {
  if (input.is_string()) return Json::array({{{"type", "message"}, {"role", "user"}, {"content", input}}});
  return input.is_array() ? input : Json::array();
}

Json listed_items(const Json& items, std::string_view response) {
  Json listed = Json::array();
  for (const Json& item : items) {
    if (!item.is_object()) continue;
    Json shown = item;
    if (!shown.contains("type")) shown["type"] = "message";
    if (!text_in(shown, "id").empty()) {
      listed.push_back(std::move(shown));
      continue;
    }
    shown["id"] = fmt::format("{}_item_{}", response, listed.size() + 1);
    if (shown["type"] == "message") {
      if (!shown.contains("status")) shown["status"] = "completed";
      if (const Json content = member(shown, "content"); content.is_string()) {
        const bool is_answer = text_in(shown, "role") == "assistant";
        shown["content"] =
            Json::array({{{"type", is_answer ? "output_text" : "input_text"}, {"text", content}}});
      }
    }
    listed.push_back(std::move(shown));
  }
  return listed;
}

Json chat_of_response(const Json& request, const Json& items) {
  Json messages = Json::array();
  if (const Json& told = member(request, "instructions"); told.is_string())
    messages.push_back({{"role", "system"}, {"content", told}});
  for (const Json& item : items) add_item(item, messages);
  Json chat = Json::object();
  for (const auto& [name, value] : request.items())
    if (!value.is_null() && std::ranges::find(translated, name) == translated.end()) chat[name] = value;
  chat["messages"] = std::move(messages);
  put_tools(request, chat);
  put_form(request, chat);
  if (const Json& most = member(request, "max_output_tokens"); !most.is_null()) chat["max_tokens"] = most;
  if (member(request, "stream") == true) {
    chat["stream"] = true;
    chat["stream_options"] = {{"include_usage", true}};  // for the last event
  }
  // `truncation: disabled` applies here too.
  const Json& wishes = member(request, "plimsoll");
  const bool says_otherwise = !wishes.is_null() && (!wishes.is_object() || wishes.contains("policy"));
  if (member(request, "truncation") == "disabled" && !says_otherwise) chat["plimsoll"]["policy"] = "strict";
  return chat;
}

std::string beyond_a_chat(const Json& request, const Json& items) {
  for (const char* field : {"conversation", "prompt"})
    if (!member(request, field).is_null()) return field;
  if (member(request, "background") == true) return "background";
  const Json& tools = member(request, "tools");
  for (std::size_t i = 0; tools.is_array() && i < tools.size(); ++i)
    if (member(tools[i], "type") != "function")
      return fmt::format("tools[{}] ({})", i, text_of(member(tools[i], "type")));
  const Json& choice = member(request, "tool_choice");
  if (choice.is_object() && member(choice, "type") != "function")
    return fmt::format("tool_choice ({})", text_of(member(choice, "type")));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!is_known_item(items[i])) return fmt::format("input[{}] ({})", i, text_of(member(items[i], "type")));
    for (const char* field : {"content", "output"}) {
      if (member(items[i], "type") == "reasoning") break;
      if (const auto part = unknown_part(member(items[i], field)))
        return fmt::format("input[{}].{} ({})", i, field, *part);
    }
  }
  return {};
}

}  // namespace plimsoll::chat
