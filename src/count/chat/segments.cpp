#include "count/chat/segments.hpp"

#include <cstring>

#include "count/split/scan.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

bool is_word(std::string_view text) {
  const auto category = static_cast<std::uint8_t>(category_of(decode(text).code_point) & ~cjk);
  return is_letter(category) || is_mark(category) || category == nd || category == pc;
}

std::size_t character_before(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && is_continuation(text[at]));
  return at;
}

bool is_space_at(std::string_view text, std::size_t at) {
  return is_space(static_cast<std::uint8_t>(category_of(decode(text.substr(at)).code_point) & ~cjk));
}

}  // namespace

AddedFinder::AddedFinder(const Compiled& compiled)
    : compiled_(&compiled), trie_(compiled.added_trie), longest_(compiled.config.longest_added) {
  for (std::size_t i = 0; i < compiled.added.size(); ++i) {
    const auto first = static_cast<unsigned char>(compiled.added_text(i).front());
    for (const Specials specials : {Specials::plain, Specials::parsed}) {
      const std::size_t s = slot(specials);
      if (!wanted(static_cast<std::uint32_t>(i), specials) || first_[s][first]) continue;
      first_[s][first] = true;
      ++first_count_[s];
      only_first_[s] = static_cast<char>(first);
    }
  }
}

AddedMatch AddedFinder::find(std::string_view text, std::size_t from, Specials specials) const {
  const std::size_t s = slot(specials);
  for (std::size_t at = from; at < text.size(); ++at) {
    if (first_count_[s] == 1) {
      const void* found = std::memchr(text.data() + at, only_first_[s], text.size() - at);
      if (found == nullptr) break;
      at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    } else if (!first_[s][static_cast<unsigned char>(text[at])]) {
      continue;
    }
    std::uint32_t node = Trie::root;
    AddedMatch best{text.size(), text.size(), no_token};
    for (std::size_t i = at; i < text.size(); ++i) {
      node = trie_.step(node, static_cast<unsigned char>(text[i]));
      if (node == Trie::none) break;
      const std::uint32_t index = trie_.value(node);
      if (index == Trie::none || !wanted(index, specials)) continue;
      const bool apart = !compiled_->added[index].whole_word ||
                         ((at == 0 || !is_word(text.substr(character_before(text, at)))) &&
                          (i + 1 == text.size() || !is_word(text.substr(i + 1))));
      if (apart) best = {at, i + 1, index};
    }
    if (best.index == no_token) continue;
    const CompiledAdded& added = compiled_->added[best.index];
    while (added.strips_left && best.begin > from && is_space_at(text, character_before(text, best.begin)))
      best.begin = character_before(text, best.begin);
    while (added.strips_right && best.end < text.size() && is_space_at(text, best.end))
      best.end += decode(text.substr(best.end)).length;
    return best;
  }
  return {text.size(), text.size(), no_token};
}

}  // namespace plimsoll::count
