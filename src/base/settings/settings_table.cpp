#include "base/settings/settings_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/text.hpp"

namespace plimsoll::base {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

template <typename Number>
std::optional<Number> number_from(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

// Reads a number from a raw value; none if it is not a number of this type.
template <typename Number>
std::optional<Number> as_number(const RawValue& raw) {
  if (const auto* number = std::get_if<Number>(&raw.held)) return *number;
  if constexpr (std::is_same_v<Number, double>)
    if (const auto* whole = std::get_if<std::int64_t>(&raw.held)) return static_cast<double>(*whole);
  if (const auto* text = std::get_if<std::string>(&raw.held); text != nullptr && !raw.typed)
    return number_from<Number>(*text);
  return std::nullopt;
}

template <typename Number>
std::optional<Number> within(std::optional<Number> number, Number least, Number most) {
  // Written so that NaN is outside.
  if (number && *number >= least && *number <= most) return number;
  return std::nullopt;
}

std::optional<bool> as_flag(const RawValue& raw) {
  if (const auto* flag = std::get_if<bool>(&raw.held)) return *flag;
  const auto* text = std::get_if<std::string>(&raw.held);
  if (text == nullptr || raw.typed) return std::nullopt;
  const std::string word = to_lower_ascii(*text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

const std::string* as_text(const RawValue& raw) {
  return std::get_if<std::string>(&raw.held);
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; });
}

bool is_url(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme) && text.size() > scheme.size() && text[scheme.size()] != '/' &&
        text.find(' ') == std::string_view::npos && !has_control(text))
      return true;
  return false;
}

std::optional<std::vector<std::string>> as_names(const RawValue& raw) {
  std::vector<std::string> names;
  if (const auto* list = std::get_if<std::vector<std::string>>(&raw.held)) {
    for (const std::string& name : *list)
      if (!trim(name).empty()) names.emplace_back(trim(name));
    return names;
  }
  const std::string* text = as_text(raw);
  if (text == nullptr) return std::nullopt;
  for (std::string_view rest = *text;;) {
    const std::size_t comma = rest.find(',');
    if (const std::string_view name = trim(rest.substr(0, comma)); !name.empty()) names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

// Stores the value. Returns false if it is not allowed.
bool take(SettingParts& settings, const Binding& binding, const RawValue& raw) {
  const auto put = [&](const auto& member, auto value) {
    if (!value) return false;
    member.in(settings) = *std::move(value);  // NOLINT(bugprone-optional-value-conversion): of many types
    return true;
  };
  return std::visit(
      Overloaded{
          [&](const Whole& w) {
            return put(w.member, within(as_number<std::int64_t>(raw), w.least, w.most));
          },
          [&](const OptionalWhole& w) {
            if (const std::string* word = as_text(raw);
                word != nullptr && to_lower_ascii(*word) == w.absent) {
              w.member.in(settings) = std::nullopt;
              return true;
            }
            return put(w.member, within(as_number<std::int64_t>(raw), w.least, w.most));
          },
          [&](const Real& r) { return put(r.member, within(as_number<double>(raw), r.least, r.most)); },
          [&](const Flag& f) { return put(f.member, as_flag(raw)); },
          [&](const Text& t) {
            const std::string* text = as_text(raw);
            if (text == nullptr || has_control(*text)) return false;
            t.member.in(settings) = *text;
            return true;
          },
          [&](const Url& u) {
            const std::string* text = as_text(raw);
            if (text == nullptr || !(text->empty() || is_url(*text))) return false;
            u.member.in(settings) = *text;
            return true;
          },
          [&](const Names& n) { return put(n.member, as_names(raw)); },
          [&](const Path& p) {
            const std::string* text = as_text(raw);
            if (text == nullptr || text->find('\0') != std::string::npos) return false;
            p.member.in(settings) = *text;
            return true;
          },
          [&](const SecretText& s) {
            const std::string* text = as_text(raw);
            if (text == nullptr || has_control(*text)) return false;  // it is sent in an HTTP header
            s.member.in(settings) = Secret(*text);
            return true;
          },
          [&](const Choice& c) {
            const std::string* text = as_text(raw);
            if (text == nullptr) return false;
            const auto found = std::find(c.words.begin(), c.words.end(), to_lower_ascii(*text));
            if (found == c.words.end()) return false;
            c.set(settings, static_cast<std::size_t>(found - c.words.begin()));
            return true;
          },
      },
      binding);
}

std::string shown_raw(const RawValue& raw) {
  return std::visit(
      Overloaded{
          [](const std::string& text) { return text; },
          [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); },
          [](const auto& value) { return fmt::format("{}", value); },
      },
      raw.held);
}

// http://ann:secret@host -> http://***@host
std::string without_password(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t at = url.substr(0, url.find_first_of("/?#", host)).rfind('@');
  if (at == std::string::npos || at < host) return url;
  return url.substr(0, host) + "***" + url.substr(at);
}

}  // namespace

std::string Setting::prefixed_environment() const {
  return "PLIMSOLL_" + to_upper_ascii(key);
}

std::string_view SettingParts::origin_of(std::string_view key) const {
  const auto found = origins.find(key);
  return found == origins.end() ? std::string_view("default") : std::string_view(found->second);
}

const Setting* find_setting(SettingList all, std::string_view key) {
  for (const Setting& setting : all)
    if (key == setting.key || key == to_upper_ascii(setting.key)) return &setting;
  return nullptr;
}

tl::unexpected<Error> unknown_setting(SettingList all, std::string_view name, std::string_view origin,
                                      std::string_view prefix) {
  const std::string upper = to_upper_ascii(name);
  const bool capitals = name == upper || !prefix.empty();  // environment variables are upper case
  std::vector<std::string> known;
  for (const Setting& setting : all)
    known.push_back(capitals ? to_upper_ascii(setting.key) : std::string(setting.key));
  const auto meant = nearest(capitals ? std::string_view(upper) : name,
                             std::vector<std::string_view>(known.begin(), known.end()));
  return fail(
      Errc::unknown_setting, "unknown setting '{}{}' ({}); {}", prefix, name, origin,
      meant ? fmt::format("did you mean '{}{}'?", prefix, *meant) : "'plimsoll config' lists all of them");
}

std::string allowed_values(const Setting& setting) {
  return std::visit(
      Overloaded{
          [](const Whole& w) {
            return fmt::format("a whole number from {} to {}", with_thousands(w.least),
                               with_thousands(w.most));
          },
          [](const OptionalWhole& w) {
            return fmt::format("a whole number from {} to {}, or {}", with_thousands(w.least),
                               with_thousands(w.most), w.absent);
          },
          [](const Real& r) { return fmt::format("a number from {} to {}", r.least, r.most); },
          [](const Flag&) { return std::string("true or false"); },
          [](const Text&) { return std::string("one line of text"); },
          [](const Url&) { return std::string("an address that starts with http:// or https://"); },
          [](const Names&) { return std::string("names, separated by commas"); },
          [](const Path&) { return std::string("a path"); },
          [](const SecretText&) { return std::string("one line of text"); },
          [](const Choice& c) { return fmt::format("one of {}", fmt::join(c.words, ", ")); },
      },
      setting.binding);
}

tl::unexpected<Error> bad_value(const Setting& setting, std::string_view shown, std::string_view origin) {
  std::string value(shown);
  if (std::holds_alternative<Url>(setting.binding)) value = without_password(value);
  if (value.size() > 80) value = value.substr(0, 80) + "...";
  return fail(Errc::bad_setting, "bad value '{}' for {} ({}): allowed is {}",
              setting.is_secret() ? "***" : value, setting.key, origin, allowed_values(setting));
}

Result<void> assign(SettingParts& settings, const Setting& setting, const RawValue& raw,
                    std::string_view origin) {
  if (!take(settings, setting.binding, raw)) return bad_value(setting, shown_raw(raw), origin);
  settings.origins.insert_or_assign(std::string(setting.key), std::string(origin));
  return {};
}

ShownValue shown_value(const SettingParts& settings, const Setting& setting) {
  const auto text_or_none = [](std::string text) {
    return text.empty() ? ShownValue{} : ShownValue{std::move(text)};
  };
  return std::visit(
      Overloaded{
          [&](const OptionalWhole& w) {
            const auto& value = w.member.in(settings);
            return value ? ShownValue{*value} : ShownValue{std::string(w.absent)};
          },
          [&](const Url& u) { return text_or_none(without_password(u.member.in(settings))); },
          [&](const Names& n) {
            std::vector<std::string> shown;
            for (const std::string& name : n.member.in(settings)) shown.push_back(without_password(name));
            return ShownValue{std::move(shown)};
          },
          [&](const Path& p) { return text_or_none(p.member.in(settings).string()); },
          [&](const SecretText& s) { return text_or_none(s.member.in(settings).empty() ? "" : "***"); },
          [&](const Choice& c) { return ShownValue{std::string(c.words[c.get(settings)])}; },
          [&](const auto& plain) { return ShownValue{plain.member.in(settings)}; },
      },
      setting.binding);
}

std::string shown_text(const SettingParts& settings, const Setting& setting) {
  const std::string text = std::visit(
      Overloaded{
          [](std::monostate) { return std::string(); },
          [](const std::string& value) { return value; },
          [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); },
          [](const auto& value) { return fmt::format("{}", value); },
      },
      shown_value(settings, setting));
  return text.empty() ? "none" : text;
}

}  // namespace plimsoll::base
