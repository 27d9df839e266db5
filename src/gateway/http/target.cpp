#include "gateway/http/target.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text/text.hpp"

namespace plimsoll::gateway {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Splits a path at slashes, without decoding.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool code =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (!code) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (percent_decoded(pair.substr(0, equals)) != name) continue;
    std::string value(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
    std::ranges::replace(value, '+', ' ');
    found = percent_decoded(value);
  }
  return found;
}

Target split_target(std::string_view target) {
  if (const std::size_t scheme = target.find("://");
      !target.starts_with('/') && scheme != std::string_view::npos) {
    const std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  Target split{percent_decoded(path), std::string(path), {}};
  if (mark != std::string_view::npos) split.query = target.substr(mark + 1);
  return split;
}

std::optional<std::string> name_in_path(std::string_view pattern, std::string_view path) {
  const auto wanted = parts_of(pattern), given = parts_of(path);
  if (wanted.size() != given.size()) return std::nullopt;
  std::string name;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool any = wanted[i].starts_with('{');
    if (any ? given[i].empty() : wanted[i] != given[i]) return std::nullopt;
    if (any) name = percent_decoded(given[i]);
  }
  return name;
}

Result<std::int64_t> whole_in(std::string_view query, std::string_view name, std::int64_t usual,
                              std::int64_t least, std::int64_t most) {
  const auto given = query_value(query, name);
  if (!given) return usual;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error != std::errc() || end != given->data() + given->size() || value < least || value > most)
    return fail(Errc::bad_input, "{} is '{}', not a whole number from {} to {}", name, given->substr(0, 40),
                base::with_thousands(least), base::with_thousands(most));
  return value;
}

}  // namespace plimsoll::gateway
