// BERT's WordPiece: the longest token at the start of a word, then the longest continuation.
#pragma once

#include <string_view>
#include <vector>

#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/double_array.hpp"

namespace plimsoll::count {

class WordPiece {
 public:
  WordPiece() = default;
  explicit WordPiece(const Compiled& compiled, std::string_view continuing_prefix);

  struct Part {
    std::uint32_t token;  // no_token: the word is unknown
    std::size_t end;
  };
  // Returns the parts of a word; none for white space, one unknown if any part is missing.
  std::vector<Part> cut(std::string_view word) const;

 private:
  const Compiled* compiled_ = nullptr;
  Trie trie_;
  std::uint32_t continuing_ = Trie::none;  // the node after the prefix of a continuation
};

}  // namespace plimsoll::count
