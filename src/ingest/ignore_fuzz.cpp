// Any rules and any path, with a NUL between them; compared with a slow exhaustive matcher where
// possible.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/ignore.hpp"

namespace {

// Of patterns of letters, '*' and '?' without a slash.
bool slow_match(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*')
    return slow_match(pattern.substr(1), name) || (!name.empty() && slow_match(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         slow_match(pattern.substr(1), name.substr(1));
}

bool is_plain(std::string_view text, std::string_view also) {
  for (const char c : text)
    if ((c < 'a' || c > 'z') && also.find(c) == std::string_view::npos) return false;
  return !text.empty() && text.size() < 14;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = bytes.find('\0');
  if (middle == std::string_view::npos) return 0;
  const std::string_view rules = bytes.substr(0, middle);
  const std::string_view path = bytes.substr(middle + 1);
  const plimsoll::ingest::IgnoreRules parsed(rules);
  const auto verdict = parsed.verdict(path, size % 2 == 0);
  if (is_plain(rules, "*?") && is_plain(path, "") && rules != "**" &&
      verdict.has_value() != slow_match(rules, path))
    std::abort();
  return 0;
}
