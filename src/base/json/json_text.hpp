// Writes JSON directly into a string, where building a JSON tree would cost too much.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace plimsoll::base {

// Appends `text` in quotes. Quotes, backslashes and control characters are escaped, and each byte that is not
// part of well-formed UTF-8 becomes U+FFFD. The result is always a valid JSON string on one
// line.
void append_json_string(std::string& out, std::string_view text);

// Appends a nlohmann JSON value like dump() on one line, but several times faster for long strings. Invalid
// UTF-8 is handled as in append_json_string, and a discarded value
// becomes null.
template <typename Json>
void append_json(std::string& out, const Json& value) {
  char number[64];
  switch (value.type()) {
    case Json::value_t::object: {
      char before = '{';
      for (const auto& [key, one] : value.template get_ref<const typename Json::object_t&>()) {
        out += std::exchange(before, ',');
        append_json_string(out, key);
        out += ':';
        append_json(out, one);
      }
      out += before == '{' ? "{}" : "}";
      return;
    }
    case Json::value_t::array: {
      char before = '[';
      for (const Json& one : value) {
        out += std::exchange(before, ',');
        append_json(out, one);
      }
      out += before == '[' ? "[]" : "]";
      return;
    }
    case Json::value_t::string: append_json_string(out, value.template get_ref<const std::string&>()); return;
    case Json::value_t::number_integer:
      out.append(number, std::to_chars(number, std::end(number), value.template get<std::int64_t>()).ptr);
      return;
    case Json::value_t::number_unsigned:
      out.append(number, std::to_chars(number, std::end(number), value.template get<std::uint64_t>()).ptr);
      return;
    case Json::value_t::number_float: {
      const auto one = value.template get<double>();
      if (std::isfinite(one))
        out.append(number, nlohmann::detail::to_chars(number, std::end(number), one));
      else
        out += "null";
      return;
    }
    case Json::value_t::boolean: out += value.template get<bool>() ? "true" : "false"; return;
    default: out += "null"; return;
  }
}

// Returns the text instead of appending it.
inline std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}
template <typename Json>
std::string json_text(const Json& value)
  requires(nlohmann::detail::is_basic_json<Json>::value)
{
  std::string out;
  append_json(out, value);
  return out;
}

// Returns a value as people read it: indented, with a line end. Invalid UTF-8 is handled as above.
std::string readable_json(const nlohmann::ordered_json& value);

// Appends JSON without line ends and the blanks after them. JSON strings never contain line ends.
void append_json_on_one_line(std::string& out, std::string_view json);

}  // namespace plimsoll::base
