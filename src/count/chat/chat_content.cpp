#include "count/chat/chat_content.hpp"

#include <algorithm>
#include <optional>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::count {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

constexpr std::string_view known_roles[] = {"system", "developer", "user", "assistant", "tool", "function"};

std::string text_of(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : std::string();
}

std::string_view view_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
}

bool is_text_type(std::string_view type) {
  return type == "text" || type == "input_text" || type == "output_text" || type == "refusal";
}

std::string part_text(const Json& part) {
  const std::string text = text_of(part, "text");
  return text.empty() ? text_of(part, "refusal") : text;
}

std::size_t bytes_of_base64(std::string_view data) {
  if (data.starts_with("data:")) data.remove_prefix(std::min(data.size(), data.find(',') + 1));
  return data.size() / 4 * 3;
}

// OpenAI's input_audio {data, format} and file {filename, file_data or file_id}; vLLM's audio_url {url}.
std::optional<ChatAttachment> read_attachment(std::string_view type, const Json& part, std::size_t message) {
  const Json& within = member(part, std::string(type).c_str());
  const Json& held = within.is_object() ? within : part;
  if (type == "input_audio" || type == "audio_url" || type == "audio") {
    const std::string_view url = view_of(held, "url");
    const bool is_here = url.empty() || url.starts_with("data:");
    return ChatAttachment{message, "audio", text_of(held, "format"),
                          is_here ? bytes_of_base64(url.empty() ? view_of(held, "data") : url) : 0};
  }
  if (type == "file" || type == "input_file") {
    const std::string name = base::to_lower_ascii(text_of(held, "filename"));
    const std::size_t dot = name.rfind('.');
    return ChatAttachment{message, "file", dot == std::string::npos ? "" : name.substr(dot + 1),
                          bytes_of_base64(view_of(held, "file_data"))};
  }
  return std::nullopt;
}

Result<void> read_part(const Json& part, std::size_t message, ChatContent& request) {
  if (!part.is_object())
    return fail(Errc::bad_input, "messages[{}].content has an element that is not an object", message);
  const std::string type = text_of(part, "type");
  if (is_text_type(type)) return {};
  if (auto attachment = read_attachment(type, part, message)) {
    request.attachments.push_back(*std::move(attachment));
    return {};
  }
  if (type != "image_url" && type != "input_image" && type != "image") {
    request.unknown_parts.push_back(type.empty() ? "without a type" : type);
    return {};
  }
  const Json& image = member(part, "image_url");
  ChatImage read{message, image.is_string() ? image.get<std::string>() : text_of(image, "url"),
                 text_of(image, "detail")};
  if (read.detail.empty()) read.detail = text_of(part, "detail");
  request.images.push_back(std::move(read));
  return {};
}

Result<void> read_message(const Json& message, std::size_t index, ChatContent& request) {
  if (!message.is_object()) return fail(Errc::bad_input, "messages[{}] is not an object", index);
  const Json& named = member(message, "role");
  const std::string_view role =
      named.is_string() ? std::string_view(named.get_ref<const std::string&>()) : "";
  if (std::ranges::find(known_roles, role) == std::end(known_roles))
    return fail(Errc::bad_input,
                "messages[{}].role is '{}', not one of system, developer, user, assistant, tool", index,
                role);
  const Json& content = member(message, "content");
  if (content.is_array()) {
    for (const Json& part : content) TRY_VOID(read_part(part, index, request));
  } else if (!content.is_string() && !content.is_null()) {
    return fail(Errc::bad_input, "messages[{}].content is neither a string nor a list", index);
  }
  const Json& calls = member(message, "tool_calls");
  if (!calls.is_array() && !calls.is_null())
    return fail(Errc::bad_input, "messages[{}].tool_calls is not a list", index);
  return {};
}

Result<void> read_tools(const Json& body, ChatContent& request) {
  const Json& tools = member(body, "tools");
  const Json& functions = member(body, "functions");
  if (!tools.is_array() && !tools.is_null()) return fail(Errc::bad_input, "tools is not a list");
  if (!functions.is_array() && !functions.is_null()) return fail(Errc::bad_input, "functions is not a list");
  if (tools.is_array() && !tools.empty()) request.tools = tools;
  if (request.tools.is_null() && functions.is_array() && !functions.empty()) {
    request.tools = Json::array();
    for (const Json& function : functions)
      request.tools.push_back({{"type", "function"}, {"function", function}});
  }
  if (request.tools.is_array()) {
    for (std::size_t i = 0; i < request.tools.size(); ++i)
      if (!request.tools[i].is_object()) return fail(Errc::bad_input, "tools[{}] is not an object", i);
  }
  request.tool_choice = member(body, "tool_choice");
  return {};
}

// A format without a schema ("json_object") adds almost nothing.
bool has_schema(const Json& format) {
  return format.is_object() && format.size() > (format.contains("type") ? 1U : 0U);
}

void read_shown(const Json& body, ChatContent& request) {
  if (const Json& format = member(body, "response_format"); has_schema(format))
    request.shown.emplace_back("response_format", format);
  for (const char* field : {"json_schema", "documents", "chat_template"})
    if (const Json& value = member(body, field); !value.is_null() && !value.empty())
      request.shown.emplace_back(field, value);
}

void shape_calls(Json& message, const MessageShape& shape) {
  if (!message.contains("tool_calls") || !message["tool_calls"].is_array() || shape.arguments_as_text) return;
  for (Json& call : message["tool_calls"]) {
    if (!call.is_object() || !call.contains("function") || !call["function"].is_object()) continue;
    Json& function = call["function"];
    if (!function.contains("arguments") || !function["arguments"].is_string()) continue;
    const std::string& text = function["arguments"].get_ref<const std::string&>();
    if (!base::check_json_shape(text, "it")) continue;
    Json parsed = base::parse_json(text);
    if (!parsed.is_discarded()) function["arguments"] = std::move(parsed);
  }
}

void shape_content(Json& message, const MessageShape& shape) {
  Json& content = message["content"];  // if missing, it becomes null, as in Hugging Face's examples
  if (content.is_null() && shape.null_as_empty) content = "";
  if (!content.is_array()) return;
  if (!shape.content_as_list) {
    content = joined_text(content);
    return;
  }
  Json kept = Json::array();
  for (const Json& part : content)
    if (is_text_type(text_of(part, "type"))) kept.push_back({{"type", "text"}, {"text", part_text(part)}});
  content = std::move(kept);
}

}  // namespace

std::string joined_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string joined;
  bool first = true;
  for (const Json& part : content) {
    if (!is_text_type(text_of(part, "type"))) continue;
    if (!first) joined += '\n';
    first = false;
    joined += part_text(part);
  }
  return joined;
}

bool has_listed_content(const ChatContent& request) {
  return std::ranges::any_of(request.messages(),
                             [](const Json& message) { return member(message, "content").is_array(); });
}

Json shaped_messages(const ChatContent& request, const MessageShape& shape) {
  Json messages = request.messages();
  for (Json& message : messages) {
    shape_content(message, shape);
    shape_calls(message, shape);
    if (shape.developer_as_system && message["role"] == "developer") message["role"] = "system";
  }
  return messages;
}

Result<Json> parse_request(std::string_view text) {
  TRY_VOID(base::check_json_shape(text, "the request"));
  if (auto quickly = base::parse_quickly(text)) return *std::move(quickly);
  if (const std::size_t at = base::find_invalid_utf8(text); at != std::string_view::npos)
    return fail(Errc::bad_input, "the request is not JSON: byte {} is not UTF-8", at + 1);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size()) return fail(Errc::bad_input, "the request is not JSON: it ends too early");
    return fail(Errc::bad_input, "the request is not JSON: error at byte {} of {}", error.byte, text.size());
  } catch (const Json::exception&) {
    return fail(Errc::bad_input, "the request is not JSON: it has a number that is too large");
  }
}

Result<ChatContent> read_chat_content(const Json& body) {
  const Json& messages = body.is_array() ? body : member(body, "messages");
  if (!messages.is_array()) return fail(Errc::bad_input, "the request has no list of messages");
  ChatContent request;
  request.given_messages = &messages;
  for (std::size_t i = 0; i < messages.size(); ++i) TRY_VOID(read_message(messages[i], i, request));
  TRY_VOID(read_tools(body, request));
  read_shown(body, request);
  const Json& given = member(body, "chat_template_kwargs");
  if (given.is_object()) request.variables = given;
  if (const std::string effort = text_of(body, "reasoning_effort"); !effort.empty())
    request.variables["reasoning_effort"] = effort;
  return request;
}

}  // namespace plimsoll::count
