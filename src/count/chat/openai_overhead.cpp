#include "count/chat/openai_overhead.hpp"

#include <algorithm>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"

namespace plimsoll::count {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

constexpr Tokens tools_frame = 9;         // around the namespace
constexpr Tokens tools_with_system = -4;  // both share one turn
constexpr Tokens call_frame = 3;          // around a name and its arguments
constexpr Tokens tool_turn = -2;          // a tool's turn has no header
constexpr Tokens forced_frame = 4;        // around the name that tool_choice forces

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

std::string fields_of(const Json& schema, std::size_t indent);

std::string choices_of(const Json& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "" : " | ") + base::json_text(value);
  return text;
}

std::string type_of(const Json& schema, std::size_t indent) {
  std::string type = text_of(member(schema, "type"));
  const Json& choices = member(schema, "enum");
  if (choices.is_array() && !choices.empty()) return choices_of(choices);
  if (type == "integer" || type == "number") return "number";
  if (type == "string" || type == "boolean" || type == "null") return type;
  if (type == "object") return "{\n" + fields_of(schema, indent + 2) + "\n}";
  if (type == "array")
    return member(schema, "items").is_object() ? type_of(member(schema, "items"), indent) + "[]" : "any[]";
  return "any";
}

// One line per property, with its description above; nested ones have no description.
std::string fields_of(const Json& schema, std::size_t indent) {
  std::string text;
  const Json& required = member(schema, "required");
  const std::string margin(indent, ' ');
  for (const auto& [name, field] : member(schema, "properties").items()) {
    const std::string about = text_of(member(field, "description"));
    if (!text.empty()) text += '\n';
    if (!about.empty() && indent < 2) text += margin + "// " + about + '\n';
    const auto is_name = [&name = name](const Json& one) {
      return one.is_string() && one.get_ref<const std::string&>() == name;
    };
    const bool needed = required.is_array() && std::ranges::any_of(required, is_name);
    text += margin + name + (needed ? ": " : "?: ") + type_of(field, indent) + ',';
  }
  return text;
}

Tokens calls_of(const Tokenizer& tokenizer, const Json& message) {
  Tokens tokens = 0;
  const auto add = [&](const Json& function) {
    tokens += tokenizer.count(text_of(member(function, "name"))) +
              tokenizer.count(text_of(member(function, "arguments"))) + call_frame;
  };
  for (const Json& call : member(message, "tool_calls")) add(member(call, "function"));
  if (member(message, "function_call").is_object()) add(member(message, "function_call"));
  return tokens;
}

Tokens forced_choice(const Tokenizer& tokenizer, const Json& choice) {
  if (choice == "none") return 1;
  const std::string name = text_of(member(member(choice, "function"), "name"));
  return name.empty() ? 0 : tokenizer.count(name) + forced_frame;
}

}  // namespace

std::string openai_tools_text(const Json& tools) {
  std::string text = "namespace functions {\n\n";
  for (const Json& tool : tools) {
    const Json& function = member(tool, "function");
    const Json& parameters = member(function, "parameters");
    const std::string about = text_of(member(function, "description"));
    if (!about.empty()) text += "// " + about + '\n';
    text += "type " + text_of(member(function, "name")) + " = (";
    if (!member(parameters, "properties").empty()) text += "_: {\n" + fields_of(parameters, 0) + "\n}";
    text += ") => any;\n\n";
  }
  return text + "} // namespace functions";
}

OpenaiCount count_openai(const Tokenizer& tokenizer, const ChatContent& request, const OpenaiRule& rule) {
  OpenaiCount counted;
  counted.format = rule.reply;
  bool system_opens = request.tools.is_array();  // tools follow the first system text, after a newline
  for (const Json& message : request.messages()) {
    const std::string role = message["role"].get<std::string>();
    const std::string name = text_of(member(message, "name"));
    const Json& content = member(message, "content");
    std::string joined;
    if (!content.is_string()) joined = joined_text(content);
    if (system_opens && role == "system") {
      joined = joined_text(content) + '\n';
      counted.tools += tools_with_system;
      system_opens = false;
    }
    const std::string& text =
        content.is_string() && joined.empty() ? content.get_ref<const std::string&>() : joined;
    const std::string refusal = text_of(member(message, "refusal"));
    Tokens tokens = tokenizer.count(text) + tokenizer.count(name) + tokenizer.count(refusal);
    const Tokens calls = calls_of(tokenizer, message);
    Tokens frame = rule.per_message + tokenizer.count(role) + (name.empty() ? 0 : rule.per_name);
    if (role == "tool" || role == "function") frame += tool_turn;
    counted.format += frame;
    counted.frames.push_back(frame);
    if (calls > 0 || role == "tool" || role == "function") counted.certain = false;
    counted.messages.push_back(tokens + calls);
  }
  if (request.tools.is_array()) {
    counted.tools += tokenizer.count(openai_tools_text(request.tools)) + tools_frame +
                     forced_choice(tokenizer, request.tool_choice);
    counted.certain = false;
  }
  return counted;
}

}  // namespace plimsoll::count
