#include "base/json/json_shape.hpp"

#include <array>

namespace plimsoll::base {

Result<void> check_json_shape(std::string_view text, std::string_view what) {
  constexpr std::size_t deepest = 100, most_keys = 1024;
  std::array<std::size_t, deepest + 1> keys{};  // keys of the open object at each depth
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    return fail(Errc::bad_input, "{} has a NUL character at byte {}", what, at + 1);
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) return fail(Errc::bad_input, "{} is nested more than {} deep", what, deepest);
      keys[depth] = 0;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ':' && ++keys[depth] > most_keys) {
      return fail(Errc::bad_input, "{} has an object of more than {} keys", what, most_keys);
    }
  }
  return {};
}

}  // namespace plimsoll::base
