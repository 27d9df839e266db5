#include "adapters/anthropic/chat_fields.hpp"

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"

namespace plimsoll::anthropic {
namespace {

using Json = nlohmann::ordered_json;

bool erase(Json& object, const char* key) {
  return object.is_object() && object.erase(key) > 0;
}

bool erase_in_all(Json& object, const char* list, const char* key) {
  bool changed = false;
  if (!object.is_object() || !object.contains(list) || !object[list].is_array()) return false;
  for (Json& one : object[list]) changed = erase(one, key) || changed;
  return changed;
}

}  // namespace

std::string without_chat_fields(std::string_view chat) {
  Json body = base::parse_json(chat);
  if (!body.is_object()) return std::string(chat);
  bool changed = erase_in_all(body, "tools", "cache_control");
  for (const char* key : {"cache_control", "thinking", "output_config", "output_format"})
    changed = erase(body, key) || changed;
  if (body.contains("messages") && body["messages"].is_array())
    for (Json& message : body["messages"]) {
      for (const char* key : {"cache_control", "thinking_blocks", "is_error"})
        changed = erase(message, key) || changed;
      for (const char* list : {"content", "tool_calls"})
        changed = erase_in_all(message, list, "cache_control") || changed;
    }
  return changed ? base::json_text(body) : std::string(chat);
}

}  // namespace plimsoll::anthropic
