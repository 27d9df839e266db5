#include "chat/asked_messages.hpp"

#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/try.hpp"
#include "count/chat/chat_content.hpp"

namespace plimsoll::chat {
namespace {

using Json = nlohmann::ordered_json;

enum class Seen { question, answer, other, passed_on };

bool names_an_index(const Json& body) {
  const auto index = body.find("index_name");
  if (index == body.end() || !index->is_string() || index->get_ref<const std::string&>().empty())
    return false;
  return base::list_in(base::member(body, "tools")).empty() &&
         base::list_in(base::member(body, "functions")).empty();
}

bool is_text_alone(const Json& content) {
  return !content.is_array() || std::ranges::all_of(content, [](const Json& part) {
    return part.is_object() && part.contains("type") && part["type"] == "text";
  });
}

Result<Seen> look_at(const Json& message) {
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string())
    return fail(Errc::bad_input, "Invalid request format: messages must contain 'role'.");
  const auto& name = role->get_ref<const std::string&>();
  const auto content = message.find("content");
  const bool empty = content == message.end() || content->is_null();
  if (empty && name != "assistant")
    return fail(Errc::bad_input, "Invalid request format: messages must contain 'content' for role '{}'.",
                name.substr(0, 60));
  if (name == "assistant") return Seen::answer;
  if (name == "system" || name == "developer") return Seen::other;
  if (name != "user" || !is_text_alone(*content)) return Seen::passed_on;
  if ((content->is_string() || content->is_array()) && (content->empty() || *content == Json("")))
    return fail(Errc::bad_input, "Invalid request format: user messages must contain 'content'.");
  return Seen::question;
}

// Returns whether there is a question to search documents for. bad_input: an invalid question.
Result<bool> is_asked(const Json& body) {
  bool asked = false;
  const auto messages = body.find("messages");
  if (messages != body.end() && !messages->is_null() && !messages->is_array())
    return false;  // reported elsewhere
  static const Json none = Json::array();
  for (const Json& message : messages == body.end() ? none : *messages) {
    if (!message.is_object()) return false;  // reported elsewhere
    TRY(const Seen seen, look_at(message));
    if (seen == Seen::passed_on) return false;
    if (seen != Seen::other) asked = seen == Seen::question;
  }
  if (!asked) return fail(Errc::bad_input, "There must be a user prompt since the latest assistant message.");
  return true;
}

}  // namespace

Result<bool> join_asked_messages(Json& body) {
  if (!body.is_object() || !names_an_index(body)) return false;
  TRY(const bool asked, is_asked(body));
  if (!asked) return false;
  Json& messages = body["messages"];
  std::size_t first = messages.size();
  while (first > 0 && messages[first - 1]["role"] == "user") --first;
  if (first + 1 >= messages.size()) return false;
  std::string question;
  for (std::size_t i = first; i < messages.size(); ++i)
    question += (i == first ? "" : "\n\n") + count::joined_text(messages[i]["content"]);
  messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(first) + 1, messages.end());
  messages[first]["content"] = std::move(question);
  return true;
}

}  // namespace plimsoll::chat
