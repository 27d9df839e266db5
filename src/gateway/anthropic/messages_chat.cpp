#include "gateway/anthropic/messages_chat.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"
#include "count/chat/defuse.hpp"

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

// Text of a document is data: what it has of a chat's structure is broken up.
Json data_part(std::string_view text) {
  return text_part(count::defuse_known(text).text);
}

Result<Json> document_part(const Json& block, const std::string& place) {
  const Json& source = member(block, "source");
  const Json& type = member(source, "type");
  const std::string title = text_in(block, "title");
  if (type == "text") return data_part((title.empty() ? "" : title + "\n\n") + text_in(source, "data"));
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
    return data_part(text);
  }
  return fail(Errc::unsupported, "{} is a block of type '{}', which other servers do not know", place,
              text_in(block, "type").substr(0, 60));
}

// One text stays a text, which every server takes.
Json as_content(Json parts) {
  if (parts.empty()) return "";
  const bool is_text = parts.size() == 1 && parts[0]["type"] == "text" && !parts[0].contains("cache_control");
  return is_text ? parts[0]["text"] : parts;
}

class Reader {
 public:
  explicit Reader(MessagesOptions options) : options_(options) {}

  // What could not be translated, where the server can be sent the request itself.
  const std::string& beyond_a_chat() const { return beyond_a_chat_; }

  // Keeps what is wrong for later if that may not matter.
  Result<void> refuse(std::string what) {
    if (!options_.for_anthropic) return fail(Errc::unsupported, "{}", what);
    if (beyond_a_chat_.empty()) beyond_a_chat_ = std::move(what);
    return {};
  }

  Result<Json> content_of(const Json& content, const std::string& place) {
    if (content.is_string()) return content;
    if (content.is_null()) return "";
    if (!content.is_array()) return fail(Errc::bad_input, "{} is neither a text nor a list of blocks", place);
    Json parts = Json::array();
    for (std::size_t i = 0; i < content.size(); ++i) {
      TRY(Json part, read_part(content[i], fmt::format("{}[{}]", place, i)));
      parts.push_back(std::move(part));
    }
    return as_content(std::move(parts));
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

  Result<void> put_tools(const Json& request, Json& chat) {
    const Json& given = member(request, "tools");
    if (!given.is_null() && !given.is_array()) return fail(Errc::bad_input, "tools is not a list");
    Json tools = Json::array();
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string type = text_in(given[i], "type");
      if (!type.empty() && type != "custom")
        TRY_VOID(refuse(fmt::format("tools[{}] is of type '{}', which only Anthropic's servers run", i,
                                    type.substr(0, 60))));
      Json function{{"name", text_in(given[i], "name")}};
      if (const Json& about = member(given[i], "description"); about.is_string())
        function["description"] = about;
      else if (!type.empty() && type != "custom")
        function["description"] = base::json_text(given[i]);  // what is known of it, so that it is counted
      if (const Json& schema = member(given[i], "input_schema"); !schema.is_null())
        function["parameters"] = schema;
      Json tool{{"type", "function"}, {"function", std::move(function)}};
      keep(given[i], "cache_control", tool);
      tools.push_back(std::move(tool));
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

 private:
  // For those that know the field.
  void keep(const Json& from, const char* field, Json& to) const {
    if (const Json& value = member(from, field); options_.for_anthropic && !value.is_null())
      to[field] = value;
  }

  Result<Json> read_part(const Json& block, const std::string& place) {
    Result<Json> part = part_of(block, place);
    if (!part) {
      TRY_VOID(refuse(part.error().what));
      part = text_part(base::json_text(block));
    }
    keep(block, "cache_control", *part);
    return part;
  }

  // Results of tools come first in a message of the user's, and are messages of their own in a chat.
  Result<void> add_users(const Json& content, const std::string& place, Json& messages) {
    Json parts = Json::array();
    for (std::size_t i = 0; i < content.size(); ++i) {
      const std::string here = fmt::format("{}[{}]", place, i);
      if (member(content[i], "type") == "tool_result") {
        TRY(Json said, content_of(member(content[i], "content"), here + ".content"));
        Json result{{"role", "tool"},
                    {"tool_call_id", text_in(content[i], "tool_use_id")},
                    {"content", std::move(said)}};
        keep(content[i], "cache_control", result);
        keep(content[i], "is_error", result);
        messages.push_back(std::move(result));
        continue;
      }
      TRY(Json part, read_part(content[i], here));
      parts.push_back(std::move(part));
    }
    if (!parts.empty()) messages.push_back({{"role", "user"}, {"content", as_content(std::move(parts))}});
    return {};
  }

  // Thoughts are for the server that thought them; a chat with another goes on without.
  Result<void> add_assistants(const Json& content, const std::string& place, Json& messages) {
    std::string text;
    Json parts = Json::array(), calls = Json::array(), thoughts = Json::array();
    for (std::size_t i = 0; i < content.size(); ++i) {
      const Json& block = content[i];
      const std::string type = text_in(block, "type");
      if (type == "text") {
        text += text_in(block, "text");
        parts.push_back(text_part(text_in(block, "text")));
        keep(block, "cache_control", parts.back());
      } else if (type == "tool_use") {
        const Json& input = member(block, "input");
        Json call{{"id", text_in(block, "id")},
                  {"type", "function"},
                  {"function",
                   {{"name", text_in(block, "name")},
                    {"arguments", input.is_null() ? "{}" : base::json_text(input)}}}};
        keep(block, "cache_control", call);
        calls.push_back(std::move(call));
      } else if (type == "thinking" || type == "redacted_thinking") {
        if (options_.for_anthropic) thoughts.push_back(block);
      } else {
        TRY_VOID(refuse(fmt::format("{}[{}] is a block of type '{}', which other servers do not know", place,
                                    i, type.substr(0, 60))));
        parts.push_back(text_part(base::json_text(block)));
        text += base::json_text(block);
      }
    }
    const bool has_caching =
        std::ranges::any_of(parts, [](const Json& part) { return !member(part, "cache_control").is_null(); });
    Json message{{"role", "assistant"}, {"content", nullptr}};
    if (has_caching)
      message["content"] = std::move(parts);
    else if (!text.empty() || calls.empty())
      message["content"] = text;
    if (!thoughts.empty()) message["thinking_blocks"] = std::move(thoughts);
    if (!calls.empty()) message["tool_calls"] = std::move(calls);
    messages.push_back(std::move(message));
    return {};
  }

  MessagesOptions options_;
  std::string beyond_a_chat_;
};

// ---- Fields ----

// Fields that are said otherwise in a chat, or are not its business.
constexpr std::array<std::string_view, 14> translated{
    "messages",           "system",        "tools",      "tool_choice",  "stop_sequences", "metadata",
    "thinking",           "stream",        "max_tokens", "service_tier", "container",      "mcp_servers",
    "context_management", "stream_options"};

// In a chat the limit of the answer does not include thinking, which is planned beside it. Other servers than
// Anthropic's know no budget for thinking: it is planned, and the limit of the answer stays as it was asked.
void put_limits(const Json& request, bool for_anthropic, Json& chat) {
  const Json& thinking = member(request, "thinking");
  const Json& budget = member(thinking, "budget_tokens");
  const Json& most = member(request, "max_tokens");
  if (!most.is_null()) chat["max_tokens"] = most;
  if (for_anthropic) {
    if (!thinking.is_null()) chat["thinking"] = thinking;
    if (budget.is_number_unsigned() && most.is_number_unsigned() && budget < most)
      chat["max_tokens"] = most.get<std::uint64_t>() - budget.get<std::uint64_t>();
    return;
  }
  if (budget.is_null()) return;
  if (member(chat, "plimsoll").is_null()) chat["plimsoll"] = Json::object();
  if (chat["plimsoll"].is_object() && !chat["plimsoll"].contains("thinking"))
    chat["plimsoll"]["thinking"] = budget;
}

}  // namespace

Result<MessagesChat> chat_of_messages(const Json& request, MessagesOptions options) {
  Reader reader(options);
  const Json& given = member(request, "messages");
  if (!given.is_array() || given.empty())
    return fail(Errc::bad_input, "messages is not a list of one message or more");
  if (options.limited && !member(request, "max_tokens").is_number_integer())
    return fail(Errc::bad_input, "max_tokens is missing: the most tokens that the answer may have");
  for (const char* field : {"container", "mcp_servers"})
    if (const Json& wish = member(request, field); !wish.is_null() && !wish.empty())
      TRY_VOID(reader.refuse(fmt::format("{} is not taken here: only Anthropic's servers know it", field)));
  Json messages = Json::array();
  TRY(Json system, reader.content_of(member(request, "system"), "system"));
  if (system != Json("")) messages.push_back({{"role", "system"}, {"content", std::move(system)}});
  for (std::size_t i = 0; i < given.size(); ++i)
    TRY_VOID(reader.add_message(given[i], fmt::format("messages[{}]", i), messages));
  Json chat = Json::object();
  for (const auto& [name, value] : request.items())
    if (!value.is_null() && std::ranges::find(translated, name) == translated.end()) chat[name] = value;
  chat["messages"] = std::move(messages);
  TRY_VOID(reader.put_tools(request, chat));
  if (!options.for_anthropic) chat.erase("cache_control");
  const Json& stop = member(request, "stop_sequences");
  if (!stop.is_null() && !stop.is_array()) return fail(Errc::bad_input, "stop_sequences is not a list");
  if (!stop.empty()) chat["stop"] = stop;
  if (const Json& user = member(member(request, "metadata"), "user_id"); user.is_string())
    chat["user"] = user;
  put_limits(request, options.for_anthropic, chat);
  if (member(request, "stream") == true) {
    chat["stream"] = true;
    chat["stream_options"] = {{"include_usage", true}};  // the last events tell it
  }
  return MessagesChat{std::move(chat), reader.beyond_a_chat()};
}

}  // namespace plimsoll::gateway
