#include "count/wordpiece.hpp"

#include <algorithm>

#include "count/split/unicode.hpp"

namespace plimsoll::count {

WordPiece::WordPiece(const Compiled& compiled, std::string_view continuing_prefix)
    : compiled_(&compiled), trie_(compiled.trie) {
  continuing_ = Trie::root;
  for (const char c : continuing_prefix) {
    if (continuing_ != Trie::none) continuing_ = trie_.step(continuing_, static_cast<unsigned char>(c));
  }
}

std::vector<WordPiece::Part> WordPiece::cut(std::string_view word) const {
  if (std::ranges::all_of(word, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); })) return {};
  const auto characters = std::ranges::count_if(word, [](char c) { return !is_continuation(c); });
  if (characters > static_cast<std::ptrdiff_t>(compiled_->config.longest_word))
    return {{no_token, word.size()}};
  std::vector<Part> parts;
  for (std::size_t at = 0; at < word.size();) {
    std::uint32_t node = at == 0 ? Trie::root : continuing_;
    Part best{no_token, word.size()};
    for (std::size_t i = at; i < word.size() && node != Trie::none; ++i) {
      node = trie_.step(node, static_cast<unsigned char>(word[i]));
      if (node != Trie::none && trie_.value(node) != Trie::none) best = {trie_.value(node), i + 1};
    }
    if (best.token == no_token) return {{no_token, word.size()}};
    parts.push_back(best);
    at = best.end;
  }
  return parts;
}

}  // namespace plimsoll::count
