// Python's string methods and filters, replacing the engine's, which support ASCII only,
// lose the origin of text, or are unbounded.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/runtime.h"
#include "jinja/value.h"
#include "unicode.h"

#include "count/chat/jinja_hooks.hpp"

namespace jinja {
namespace {

bool is_python_space(std::uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto parsed = common_parse_utf8_codepoint(text, at);
  if (parsed.status != utf8_parse_result::SUCCESS) return {0xfffd, 1};
  return {parsed.codepoint, parsed.bytes_consumed};
}

Character character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  const Character found = character_at(text, at);
  return at + found.length == end ? found : Character{0xfffd, 1};
}

// The characters that strip removes: white space, or those of a given text.
class Stripped {
 public:
  explicit Stripped(const value& given) : spaces_(given->is_undefined() || given->is_none()) {
    if (spaces_) return;
    const std::string text = given->as_string().str();
    for (std::size_t at = 0; at < text.size();) {
      const Character next = character_at(text, at);
      set_.push_back(next.code);
      at += next.length;
    }
  }
  bool has(std::uint32_t code) const {
    return spaces_ ? is_python_space(code) : std::find(set_.begin(), set_.end(), code) != set_.end();
  }

 private:
  bool spaces_;
  std::vector<std::uint32_t> set_;
};

template <bool left, bool right>
value strip(const func_args& args) {
  string text = args.get_pos(0)->as_string();
  const Stripped stripped(args.get_kwarg_or_pos("chars", 1));
  auto& parts = text.parts;
  while (left && !parts.empty()) {
    std::string& front = parts.front().val;
    std::size_t at = 0;
    for (; at < front.size(); at += character_at(front, at).length)
      if (!stripped.has(character_at(front, at).code)) break;
    front.erase(0, at);
    if (!front.empty()) break;
    parts.erase(parts.begin());
  }
  while (right && !parts.empty()) {
    std::string& back = parts.back().val;
    while (!back.empty() && stripped.has(character_before(back, back.size()).code))
      back.resize(back.size() - character_before(back, back.size()).length);
    if (!back.empty()) break;
    parts.pop_back();
  }
  return mk_val<value_string>(text);
}

// Returns a part of the source's text with the source's origin.
value piece_of(const value& source, std::string_view text) {
  plimsoll::count::hooks::grow(text.size());
  auto piece = mk_val<value_string>(std::string(text));
  piece->val_str.mark_input_based_on(source->val_str);
  return piece;
}

// Splits at white space, like split() without a separator.
value split_words(const value& source, std::string_view text) {
  auto words = mk_val<value_array>();
  std::size_t begin = std::string_view::npos;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    if (!is_python_space(next.code)) {
      if (begin == std::string_view::npos) begin = at;
    } else if (begin != std::string_view::npos) {
      words->push_back(piece_of(source, text.substr(begin, at - begin)));
      begin = std::string_view::npos;
    }
    at += next.length;
  }
  if (begin != std::string_view::npos) words->push_back(piece_of(source, text.substr(begin)));
  return words;
}

template <bool from_right>
value split(const func_args& args) {
  const value source = args.get_pos(0);
  const std::string text = source->as_string().str();
  const value separator = args.get_kwarg_or_pos("sep", 1);
  const value most = args.get_kwarg_or_pos("maxsplit", 2);
  std::int64_t left = most->is_undefined() ? -1 : most->as_int();
  if (separator->is_undefined() || separator->is_none()) return split_words(source, text);
  const std::string cut = separator->as_string().str();
  if (cut.empty()) throw raised_exception("empty separator");
  auto pieces = mk_val<value_array>();
  std::string_view rest = text;
  for (; left != 0; --left) {
    const std::size_t at = from_right ? rest.rfind(cut) : rest.find(cut);
    if (at == std::string_view::npos) break;
    pieces->push_back(piece_of(source, from_right ? rest.substr(at + cut.size()) : rest.substr(0, at)));
    rest = from_right ? rest.substr(0, at) : rest.substr(at + cut.size());
  }
  pieces->push_back(piece_of(source, rest));
  if (from_right) pieces->reverse();
  return pieces;
}

value replace(const func_args& args) {
  args.ensure_count(3, 4);
  const value source = args.get_pos(0);
  const std::string text = source->as_string().str();
  const std::string old_text = args.get_pos(1)->as_string().str();
  const std::string new_text = args.get_pos(2)->as_string().str();
  const value most = args.get_kwarg_or_pos("count", 3);
  std::int64_t left = most->is_undefined() || most->is_none() ? -1 : most->as_int();
  if (old_text.empty()) throw raised_exception("replace() of nothing");
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find(old_text); at != std::string::npos && left != 0;
       at = text.find(old_text, from), --left) {
    plimsoll::count::hooks::grow(at - from + new_text.size());
    result.append(text, from, at - from).append(new_text);
    from = at + old_text.size();
  }
  result.append(text, from);
  return piece_of(source, result);
}

value length(const func_args& args) {
  const std::string text = args.get_pos(0)->as_string().str();
  return mk_val<value_int>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

value indent(const func_args& args) {
  const value width = args.get_kwarg_or_pos("width", 1);
  const std::string text = args.get_pos(0)->as_string().str();
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const std::size_t each =
      is_val<value_int>(width)
          ? static_cast<std::size_t>(std::clamp<std::int64_t>(width->as_int(), 0, 1 << 20))
      : is_val<value_string>(width) ? width->as_string().length()
                                    : 4;
  if (is_val<value_int>(width) && (width->as_int() < 0 || width->as_int() > 1 << 20))
    throw raised_exception("indent() by a width out of range");
  plimsoll::count::hooks::grow(lines * each);
  return original_string_builtins().at("indent")(args);
}

}  // namespace

int origin_of(const value& val) {
  for (const auto& part : val->val_str.parts)
    if (part.origin >= 0) return part.origin;
  for (const auto& item : val->val_arr)
    if (const int found = origin_of(item); found >= 0) return found;
  for (const auto& [key, item] : val->val_obj) {
    if (const int found = origin_of(key); found >= 0) return found;
    if (const int found = origin_of(item); found >= 0) return found;
  }
  return -1;
}

void set_origin(const value& text, int origin) {
  for (auto& part : text->val_str.parts) {
    part.is_input = origin >= 0;
    part.origin = origin;
  }
}

const func_builtins& value_string_t::get_builtins() const {
  static const func_builtins builtins = [] {
    func_builtins made = original_string_builtins();
    made["strip"] = strip<true, true>;
    made["lstrip"] = strip<true, false>;
    made["rstrip"] = strip<false, true>;
    made["split"] = split<false>;
    made["rsplit"] = split<true>;
    made["replace"] = replace;
    made["length"] = length;
    made["indent"] = indent;
    return made;
  }();
  return builtins;
}

}  // namespace jinja
