#include "gateway/ollama/ollama_messages.hpp"

#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"

namespace plimsoll::gateway {
namespace {

using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

// Detects the type from the first base64 characters.
std::string_view media_type(std::string_view base64) {
  if (base64.starts_with("iVBORw0KGgo")) return "image/png";
  if (base64.starts_with("R0lGOD")) return "image/gif";
  if (base64.starts_with("UklGR")) return "image/webp";
  if (base64.starts_with("Qk")) return "image/bmp";
  return "image/jpeg";
}

bool is_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n";
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

Result<std::string> image_url(const Json& image, std::string_view where, std::size_t index) {
  std::string data = image.is_string() ? image.get<std::string>() : std::string();
  if (data.starts_with("data:")) return data;
  if (!is_base64(data)) return fail(Errc::bad_input, "{}images[{}] is not base64", where, index);
  return fmt::format("data:{};base64,{}", media_type(data), data);
}

// Tool calls without a result yet.
class OpenCalls {
 public:
  // Returns the id of a call: its own, or one made from its position.
  std::string made(const Json& call, const std::string& name, std::size_t message, std::size_t index) {
    std::string id = text_in(call, "id");
    if (id.empty()) id = fmt::format("call_{}_{}", message, index);
    open_.push_back({id, name});
    return id;
  }

  // Finds the call for a result: by id, by tool name, else the oldest. Empty: none.
  std::string answered(const Json& message) {
    std::string id = text_in(message, "tool_call_id");
    std::string name = text_in(message, "tool_name");
    if (name.empty()) name = text_in(message, "name");
    auto found = std::ranges::find_if(
        open_, [&](const Call& call) { return id.empty() ? call.name == name : call.id == id; });
    if (found == open_.end() && id.empty() && name.empty()) found = open_.begin();
    if (found == open_.end()) return id;
    std::string call = found->id;
    open_.erase(found);
    return call;
  }

 private:
  struct Call {
    std::string id, name;
  };
  std::vector<Call> open_;
};

Result<Json> openai_calls(const Json& calls, std::size_t message, OpenCalls& open) {
  if (!calls.is_array()) return fail(Errc::bad_input, "messages[{}].tool_calls is not a list", message);
  Json all = Json::array();
  for (const Json& call : calls) {
    const Json& function = member(call, "function");
    const std::string name = text_in(function, "name");
    if (name.empty())
      return fail(Errc::bad_input, "messages[{}].tool_calls[{}] names no function", message, all.size());
    const Json& arguments = member(function, "arguments");
    std::string text = "{}";
    if (arguments.is_object()) text = base::json_text(arguments);
    if (arguments.is_string()) text = arguments.get<std::string>();
    if (!arguments.is_null() && !arguments.is_object() && !arguments.is_string())
      return fail(Errc::bad_input, "messages[{}].tool_calls[{}].function.arguments is not an object", message,
                  all.size());
    Json out{{"id", open.made(call, name, message, all.size())},
             {"type", "function"},
             {"function", {{"name", name}, {"arguments", std::move(text)}}}};
    all.push_back(std::move(out));
  }
  return all;
}

void add_result(const Json& from, std::size_t index, OpenCalls& open, Json& to) {
  std::string id = open.answered(from);
  const std::string name = text_in(from, "tool_name");
  if (id.empty() && !name.empty()) to["name"] = name;
  if (id.empty()) id = fmt::format("call_{}_0", index);  // its call is no longer in the history
  to["tool_call_id"] = std::move(id);
}

}  // namespace

Result<Json> openai_content(const std::string& text, const Json& images, std::string_view where) {
  if (images.is_null() || (images.is_array() && images.empty())) return Json(text);
  if (!images.is_array()) return fail(Errc::bad_input, "{}images is not a list", where);
  Json parts = Json::array();
  if (!text.empty()) parts.push_back({{"type", "text"}, {"text", text}});
  for (std::size_t i = 0; i < images.size(); ++i) {
    TRY(std::string url, image_url(images[i], where, i));
    parts.push_back({{"type", "image_url"}, {"image_url", {{"url", std::move(url)}}}});
  }
  return parts;
}

Result<Json> openai_messages(const Json& messages, bool with_thoughts, std::vector<std::string>& notes) {
  Json all = Json::array();
  OpenCalls open;
  bool has_thoughts = false;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Json& from = messages[i];
    const std::string role = text_in(from, "role");
    if (role.empty()) return fail(Errc::bad_input, "messages[{}] is not an object with a role", i);
    const Json& content = member(from, "content");
    if (!content.is_string() && !content.is_null())
      return fail(Errc::bad_input, "messages[{}].content is not a string", i);
    Json to{{"role", role}};
    TRY(to["content"],
        openai_content(text_in(from, "content"), member(from, "images"), fmt::format("messages[{}].", i)));
    if (const std::string thought = text_in(from, "thinking"); !thought.empty()) {
      has_thoughts = true;
      if (with_thoughts) to["reasoning_content"] = thought;
    }
    if (const Json& calls = member(from, "tool_calls"); !calls.is_null() && !calls.empty()) {
      TRY(to["tool_calls"], openai_calls(calls, i, open));
    }
    if (role == "tool") add_result(from, i, open, to);
    all.push_back(std::move(to));
  }
  if (has_thoughts && !with_thoughts)
    notes.emplace_back("thinking of earlier answers is dropped: this upstream does not support it");
  return all;
}

}  // namespace plimsoll::gateway
