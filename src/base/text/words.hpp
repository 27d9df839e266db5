// The words of a text as searching compares them: case and accents folded, English endings taken off.
//
// A word is a run of letters and digits; "_" and every sign split. A word of several in camel case is
// followed by these: "CORSMiddleware" gives "corsmiddleware", "cors" and "middleware". "dog's" and "don't"
// are one word each, "l'eau" and "O'Reilly" are two. Scripts that put no spaces between words (Chinese,
// Japanese, Korean, Thai, Lao, Khmer, Burmese) give each pair of neighbouring characters, and a character
// that stands alone by itself. Linear in the text, in memory bounded by the longest word kept. Any bytes may
// come: what is not well-formed UTF-8 splits words. Safe on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::base {

// What is kept of a word; the rest of it is part of the word but not compared.
inline constexpr std::size_t longest_word_bytes = 64;

struct Word {
  std::string stem;
  std::uint32_t start = 0, end = 0;  // bytes of the text
  bool stop = false;                 // so common in English that it says nothing

  bool operator==(const Word&) const = default;
};

// Replaces what `out` holds. A text beyond 4 GiB is read up to there.
void read_words(std::string_view text, std::vector<Word>& out);

// One word after the other, folded but not stemmed, for those who keep a table of their own from folded words
// to what they need of them.
class WordScanner {
 public:
  explicit WordScanner(std::string_view text);

  bool next();  // false: no more, and it stays so
  std::string_view folded() const { return {word_.data(), size_}; }
  std::uint32_t start() const { return static_cast<std::uint32_t>(start_); }
  std::uint32_t end() const { return static_cast<std::uint32_t>(end_); }

 private:
  void read_word();
  bool read_part();
  bool read_pair();
  void append(std::string_view bytes);
  std::size_t contraction_at(std::size_t at) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0, end_ = 0;
  std::size_t pair_end_ = 0;  // the end of the character that the last pair ended with; 0: there was none
  std::size_t part_ = 0, parts_end_ = 0;  // what is left of a word whose parts are given
  bool full_ = false;                     // the word had more than is kept
  std::size_t size_ = 0;
  std::array<char, longest_word_bytes> word_{};
};

struct StemmedWord {
  std::string_view stem;  // valid until this thread stems again
  bool stop = false;
};

// Of a folded word. English alone: a word with other letters, or with digits, stays as it is.
StemmedWord stem_word(std::string_view folded);

}  // namespace plimsoll::base
