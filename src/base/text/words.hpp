// Splits a text into words for searching: case and accents folded, English endings removed.
//
// A word is a run of letters and digits; "_" and all other characters split. A camel-case word is followed by
// its parts: "CORSMiddleware" gives "corsmiddleware", "cors" and "middleware". "dog's" and "don't"
// are one word each, "l'eau" and "O'Reilly" are two. Scripts without spaces between words (Chinese,
// Japanese, Korean, Thai, Lao, Khmer, Burmese) give each pair of adjacent characters, or a single isolated
// character; in Japanese a pair does not reach from kanji to kana or from one kana to the other. Linear time;
// memory bounded by the longest word kept. Accepts any bytes: invalid UTF-8 splits words. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/language.hpp"

namespace plimsoll::base {

// Longest part of a word that is compared; the rest is ignored.
inline constexpr std::size_t longest_word_bytes = 64;

struct Word {
  std::string stem;
  std::uint32_t start = 0, end = 0;  // bytes of the text
  bool stop = false;                 // a common English word without meaning for search

  bool operator==(const Word&) const = default;
};

// Replaces the contents of `out`. Reads at most 4 GiB of text.
void read_words(std::string_view text, std::vector<Word>& out);

// Iterates over words, folded but not stemmed, for callers with their own table of folded
// words.
class WordScanner {
 public:
  explicit WordScanner(std::string_view text);

  bool next();  // false: no more words
  std::string_view folded() const { return {word_.data(), size_}; }
  std::uint32_t start() const { return static_cast<std::uint32_t>(start_); }
  std::uint32_t end() const { return static_cast<std::uint32_t>(end_); }
  std::string_view written() const { return text_.substr(start_, end_ - start_); }

 private:
  void read_word();
  bool read_part();
  bool read_pair();
  void append(std::string_view bytes);
  std::size_t contraction_at(std::size_t at) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0, end_ = 0;
  std::size_t pair_end_ = 0;              // end of the last pair; 0: none
  std::size_t part_ = 0, parts_end_ = 0;  // remaining camel-case parts of a word
  bool full_ = false;                     // the word was truncated
  std::size_t size_ = 0;
  std::array<char, longest_word_bytes> word_{};
};

struct StemmedWord {
  std::string_view stem;  // valid until the next call on this thread
  bool stop = false;
};

// Stems a folded word. English only: words with other letters or digits are not changed.
StemmedWord stem_word(std::string_view folded);

// Stems a word of another language. `written`: as in the text, because endings have accents that folding
// removes; the stem is folded.
StemmedWord stem_word(std::string_view written, std::string_view folded, TextLanguage language);

}  // namespace plimsoll::base
