#include "gateway/anthropic/messages_chat.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"

namespace plimsoll::gateway {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

Json text_part(std::string text) {
  return {{"type", "text"}, {"text", std::move(text)}};
}

// ---- Blocks ----

Result<Json> image_part(const Json& block, const std::string& place) {
  const Json& source = member(block, "source");
  const Json& type = member(source, "type");
  std::string url;
  if (type == "url") url = text_in(source, "url");
  if (type == "base64")
    url = fmt::format("data:{};base64,{}", text_in(source, "media_type"), text_in(source, "data"));
  if (url.empty()) return fail(Errc::unsupported, "{}.source is neither base64 nor a url", place);
  return Json{{"type", "image_url"}, {"image_url", {{"url", std::move(url)}}}};
}

Result<Json> document_part(const Json& block, const std::string& place) {
  const Json& source = member(block, "source");
  const Json& type = member(source, "type");
  const std::string title = text_in(block, "title");
  if (type == "text") return text_part((title.empty() ? "" : title + "\n\n") + text_in(source, "data"));
  if (type == "base64")
    return Json{{"type", "file"},
                {"file",
                 {{"filename", title.empty() ? "document.pdf" : title},
                  {"file_data", fmt::format("data:{};base64,{}", text_in(source, "media_type"),
                                            text_in(source, "data"))}}}};
  return fail(Errc::unsupported, "{}.source is neither text nor base64", place);
}

Result<Json> part_of(const Json& block, const std::string& place) {
  const Json& type = member(block, "type");
  if (type == "text") return text_part(text_in(block, "text"));
  if (type == "image") return image_part(block, place);
  if (type == "document") return document_part(block, place);
  if (type == "search_result") {
    std::string text = text_in(block, "title");
    for (const Json& one : list_in(member(block, "content"))) text += "\n\n" + text_in(one, "text");
    return text_part(std::move(text));
  }
  return fail(Errc::unsupported, "{} is a block of type '{}', which other servers do not know", place,
              text_in(block, "type").substr(0, 60));
}

// One text stays a text, which every server takes.
Json as_content(Json parts) {
  if (parts.empty()) return "";
  return parts.size() == 1 && parts[0]["type"] == "text" ? parts[0]["text"] : parts;
}

Result<Json> content_of(const Json& content, const std::string& place) {
  if (content.is_string()) return content;
  Json parts = Json::array();
  for (std::size_t i = 0; content.is_array() && i < content.size(); ++i) {
    TRY(Json part, part_of(content[i], fmt::format("{}[{}]", place, i)));
    parts.push_back(std::move(part));
  }
  return as_content(std::move(parts));
}

// ---- Messages ----

// Results of tools come first in a message of the user's, and are messages of their own in a chat.
Result<void> add_users(const Json& content, const std::string& place, Json& messages) {
  Json parts = Json::array();
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::string here = fmt::format("{}[{}]", place, i);
    if (member(content[i], "type") == "tool_result") {
      TRY(Json said, content_of(member(content[i], "content"), here + ".content"));
      messages.push_back({{"role", "tool"},
                          {"tool_call_id", text_in(content[i], "tool_use_id")},
                          {"content", std::move(said)}});
      continue;
    }
    TRY(Json part, part_of(content[i], here));
    parts.push_back(std::move(part));
  }
  if (!parts.empty()) messages.push_back({{"role", "user"}, {"content", as_content(std::move(parts))}});
  return {};
}

// Thoughts are for the server that thought them; a chat goes on without.
Result<void> add_assistants(const Json& content, const std::string& place, Json& messages) {
  std::string text;
  Json calls = Json::array();
  for (std::size_t i = 0; i < content.size(); ++i) {
    const Json& block = content[i];
    const std::string type = text_in(block, "type");
    if (type == "text") {
      text += text_in(block, "text");
    } else if (type == "tool_use") {
      const Json& input = member(block, "input");
      calls.push_back({{"id", text_in(block, "id")},
                       {"type", "function"},
                       {"function",
                        {{"name", text_in(block, "name")},
                         {"arguments", input.is_null() ? "{}" : base::json_text(input)}}}});
    } else if (type != "thinking" && type != "redacted_thinking") {
      return fail(Errc::unsupported, "{}[{}] is a block of type '{}', which other servers do not know", place,
                  i, type.substr(0, 60));
    }
  }
  Json message{{"role", "assistant"}, {"content", text.empty() && !calls.empty() ? Json() : Json(text)}};
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  messages.push_back(std::move(message));
  return {};
}

Result<void> add_message(const Json& message, const std::string& place, Json& messages) {
  const std::string role = text_in(message, "role");
  const Json& content = member(message, "content");
  if (role != "user" && role != "assistant")
    return fail(Errc::bad_input, "{}.role is neither \"user\" nor \"assistant\"", place);
  if (content.is_string()) {
    messages.push_back({{"role", role}, {"content", content}});
    return {};
  }
  if (!content.is_array())
    return fail(Errc::bad_input, "{}.content is neither a text nor a list of blocks", place);
  return role == "user" ? add_users(content, place + ".content", messages)
                        : add_assistants(content, place + ".content", messages);
}

// ---- Fields ----

Result<void> put_tools(const Json& request, Json& chat) {
  const Json& given = member(request, "tools");
  Json tools = Json::array();
  for (std::size_t i = 0; given.is_array() && i < given.size(); ++i) {
    const std::string type = text_in(given[i], "type");
    if (!type.empty() && type != "custom")
      return fail(Errc::unsupported, "tools[{}] is of type '{}', which only Anthropic's servers run", i,
                  type.substr(0, 60));
    Json function{{"name", text_in(given[i], "name")}};
    if (const Json& about = member(given[i], "description"); about.is_string())
      function["description"] = about;
    if (const Json& schema = member(given[i], "input_schema"); !schema.is_null())
      function["parameters"] = schema;
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  if (tools.empty()) return {};
  chat["tools"] = std::move(tools);
  const Json& choice = member(request, "tool_choice");
  const std::string type = text_in(choice, "type");
  if (type == "auto" || type == "none") chat["tool_choice"] = type;
  if (type == "any") chat["tool_choice"] = "required";
  if (type == "tool")
    chat["tool_choice"] = {{"type", "function"}, {"function", {{"name", text_in(choice, "name")}}}};
  if (member(choice, "disable_parallel_tool_use") == true) chat["parallel_tool_calls"] = false;
  return {};
}

// Fields that are said otherwise in a chat, or are not its business.
constexpr std::array<std::string_view, 14> translated{
    "messages",           "system",        "tools",      "tool_choice",  "stop_sequences", "metadata",
    "thinking",           "stream",        "max_tokens", "service_tier", "container",      "mcp_servers",
    "context_management", "stream_options"};

void put_thinking(const Json& request, Json& chat) {
  const Json& tokens = member(member(request, "thinking"), "budget_tokens");
  if (!tokens.is_null() && member(chat, "plimsoll").is_null()) chat["plimsoll"] = Json::object();
  if (!tokens.is_null() && chat["plimsoll"].is_object() && !chat["plimsoll"].contains("thinking"))
    chat["plimsoll"]["thinking"] = tokens;
}

}  // namespace

Result<Json> chat_of_messages(const Json& request, bool limited) {
  const Json& given = member(request, "messages");
  if (!given.is_array() || given.empty())
    return fail(Errc::bad_input, "messages is not a list of one message or more");
  if (limited && !member(request, "max_tokens").is_number_integer())
    return fail(Errc::bad_input, "max_tokens is missing: the most tokens that the answer may have");
  for (const char* field : {"container", "mcp_servers"})
    if (const Json& wish = member(request, field); !wish.is_null() && !wish.empty())
      return fail(Errc::unsupported, "{} is not taken here: only Anthropic's servers know it", field);
  Json messages = Json::array();
  TRY(Json system, content_of(member(request, "system"), "system"));
  if (system != "") messages.push_back({{"role", "system"}, {"content", std::move(system)}});
  for (std::size_t i = 0; i < given.size(); ++i)
    TRY_VOID(add_message(given[i], fmt::format("messages[{}]", i), messages));
  Json chat = Json::object();
  for (const auto& [name, value] : request.items())
    if (!value.is_null() && std::ranges::find(translated, name) == translated.end()) chat[name] = value;
  chat["messages"] = std::move(messages);
  TRY_VOID(put_tools(request, chat));
  if (const Json& stop = member(request, "stop_sequences"); stop.is_array() && !stop.empty())
    chat["stop"] = stop;
  if (const Json& user = member(member(request, "metadata"), "user_id"); user.is_string())
    chat["user"] = user;
  if (const Json& most = member(request, "max_tokens"); !most.is_null()) chat["max_tokens"] = most;
  put_thinking(request, chat);
  if (member(request, "stream") == true) {
    chat["stream"] = true;
    chat["stream_options"] = {{"include_usage", true}};  // the last events tell it
  }
  return chat;
}

}  // namespace plimsoll::gateway
