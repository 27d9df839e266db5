#include "window/reply_json.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::window {
namespace {

constexpr std::size_t longest_shown = 60;
constexpr std::size_t longest_text = 512;

std::string_view kind_of(std::string_view reply) {
  const std::string_view text = base::trim(reply);
  if (text.empty()) return "nothing";
  if (text.front() == '<') return "HTML or XML";
  if (text.front() == '{' || text.front() == '[') return "JSON that is cut off or malformed";
  return "text";
}

void object(std::string& problem, std::string_view key, std::string_view what) {
  if (problem.empty())
    problem = fmt::format("{} is {}, not a whole number from 1 to {}", key, what,
                          base::with_thousands(largest_served_window));
}

Tokens in_range(std::int64_t number, std::string_view key, std::string_view what, std::string& problem) {
  if (number >= 1 && number <= largest_served_window) return number;
  object(problem, key, what);
  return 0;
}

}  // namespace

Result<Json> parse_reply(std::string_view reply) {
  Json json = Json::parse(reply, nullptr, false);
  if (json.is_discarded()) return fail(Errc::upstream_failed, "the reply is {}, not JSON", kind_of(reply));
  if (!json.is_object()) return fail(Errc::upstream_failed, "the reply is {}, not an object", shown(json));
  return json;
}

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);  // ASCII only: it may be cut
  if (text.size() > longest_shown) text = text.substr(0, longest_shown) + "...";
  return text;
}

const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

Tokens tokens_in(const Json& object_with_it, std::string_view key, std::string& problem) {
  const Json& value = member(object_with_it, key);
  if (value.is_null()) return 0;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX)
    return in_range(static_cast<std::int64_t>(value.get<std::uint64_t>()), key, shown(value), problem);
  object(problem, key, shown(value));
  return 0;
}

Tokens tokens_from_text(std::string_view text, std::string_view key, std::string& problem) {
  std::int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && stopped == text.data() + text.size();
  return in_range(whole ? number : 0, key, shown(Json(std::string(text))), problem);
}

std::string text_in(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  return text.size() <= longest_text ? text : std::string();
}

std::string parameters_of(const Json& count) {
  if (!count.is_number_unsigned()) return {};
  const auto number = static_cast<double>(count.get<std::uint64_t>());
  if (number < 1e6 || number > 1e15) return {};
  return number < 999.95e6 ? fmt::format("{:.1f}M", number / 1e6) : fmt::format("{:.1f}B", number / 1e9);
}

}  // namespace plimsoll::window
