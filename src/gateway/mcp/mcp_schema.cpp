#include "gateway/mcp/mcp_schema.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/json/json_text.hpp"
#include "base/try.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const Json& value) {
  constexpr std::size_t most_bytes = 60;
  std::string text =
      value.is_structured() ? (value.is_array() ? "an array" : "an object") : base::json_text(value);
  if (text.size() > most_bytes) {
    text.resize(most_bytes);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
    text += "…";
  }
  return text;
}

// In JSON Schema 5.0 and 5e3 are integers.
bool is_integer(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return is_integer(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return false;
}

std::string with_article(const std::string& type) {
  return (type.find_first_of("aeiou") == 0 ? "an " : "a ") + type;
}

Result<void> check_number(const Json& value, const Json& schema, const std::string& where) {
  if (!value.is_number()) return {};
  if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>())
    return fail(Errc::bad_input, "{} must be at least {}, not {}", where, schema["minimum"].dump(),
                shown(value));
  if (schema.contains("maximum") && value.get<double>() > schema["maximum"].get<double>())
    return fail(Errc::bad_input, "{} must be at most {}, not {}", where, schema["maximum"].dump(),
                shown(value));
  return {};
}

Result<void> check_at(const Json& value, const Json& schema, const std::string& where);

Result<void> check_object(const Json& value, const Json& schema, const std::string& where) {
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get_ref<const std::string&>()))
      return fail(Errc::bad_input, "{}.{} is missing", where, name.get_ref<const std::string&>());
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, member] : value.items()) {
    const auto known = properties.find(name);
    if (known != properties.end()) {
      TRY_VOID(check_at(member, *known, where + "." + name));
    } else if (!schema.value("additionalProperties", true)) {
      std::string names;
      for (const auto& [property, unused] : properties.items())
        names += (names.empty() ? "" : ", ") + property;
      return fail(Errc::bad_input, "{} has no member {}; known members: {}", where, shown(name), names);
    }
  }
  return {};
}

Result<void> check_array(const Json& value, const Json& schema, const std::string& where) {
  if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<std::size_t>())
    return fail(Errc::bad_input, "{} has {} items; at most {} are allowed", where, value.size(),
                schema["maxItems"].get<std::size_t>());
  if (!schema.contains("items")) return {};
  for (std::size_t i = 0; i < value.size(); ++i)
    TRY_VOID(check_at(value[i], schema["items"], fmt::format("{}[{}]", where, i)));
  return {};
}

Result<void> check_at(const Json& value, const Json& schema, const std::string& where) {
  if (schema.contains("type")) {
    const auto& type = schema["type"].get_ref<const std::string&>();
    if (!has_type(value, type))
      return fail(Errc::bad_input, "{} must be {}, not {}", where, with_article(type), shown(value));
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    std::string names;
    for (const Json& one : schema["enum"]) names += (names.empty() ? "" : ", ") + one.dump();
    return fail(Errc::bad_input, "{} must be one of {}, not {}", where, names, shown(value));
  }
  TRY_VOID(check_number(value, schema, where));
  if (value.is_object()) return check_object(value, schema, where);
  if (value.is_array()) return check_array(value, schema, where);
  return {};
}

}  // namespace

Result<void> check_schema(const Json& value, const Json& schema) {
  return check_at(value, schema, "arguments");
}

Json without_nulls(const Json& arguments, const Json& schema) {
  if (!arguments.is_object()) return arguments;
  const Json required = schema.value("required", Json::array());
  Json kept = Json::object();
  for (const auto& [name, member] : arguments.items()) {
    if (!member.is_null() || std::ranges::find(required, Json(name)) != required.end()) kept[name] = member;
  }
  return kept;
}

}  // namespace plimsoll::gateway
