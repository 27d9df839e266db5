// Splits a text into pre-tokens: pieces that no token crosses.
//
// The references use regular expressions with look-ahead. The common ones are implemented here
// with class masks (classify.hpp): the equivalent expression is quoted, and tests compare
// the two. All other expressions use PCRE2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "count/split/classify.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::count {

enum class Splitter : std::uint8_t {
  whole,         // the text is one piece
  seams,         // split between two bytes that are adjacent in no token
  gpt2,          // GPT-2's
  gpt2_digits,   // single digits, then GPT-2's for the text between (SmolLM2, Command-R)
  cl100k,        // OpenAI's cl100k, Llama 3
  cl100k_digit,  // the same with single digits (Qwen)
  o200k,         // OpenAI's o200k
  tekken,        // Mistral's: o200k without contractions, single digits
  deepseek,      // DeepSeek V3: numbers, then runs of Han and kana, then words
  regex,         // any other expression, with PCRE2
};
inline constexpr int splitter_count = 10;

// Returns the display name.
std::string_view name_of(Splitter splitter);

// One bit per pair of bytes that is adjacent in some token.
class Seams {
 public:
  static constexpr std::size_t words = 65536 / 64;
  Seams() = default;
  explicit Seams(std::span<const std::uint64_t, words> bits) : bits_(bits.data()) {}
  bool joined(unsigned char left, unsigned char right) const {
    const unsigned pair = static_cast<unsigned>(left) << 8 | right;
    return (bits_[pair >> 6] >> (pair & 63)) & 1;
  }

 private:
  const std::uint64_t* bits_ = nullptr;
};

class RegexSplitter;  // regex_split.hpp

struct PreTokenizer {
  Splitter splitter = Splitter::whole;
  Seams seams;                                 // for Splitter::seams
  std::shared_ptr<const RegexSplitter> regex;  // for Splitter::regex
};

// Returns the bytes at the start of a text that belong to one piece, whatever follows, except the last few:
// all characters have one class, or no two of them can be separated. `first` may have another class, such as
// a space before a word.
std::size_t uniform_front(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool first);

// Iterates over the pieces of one text in batches.
//
// `open`: more text may follow. Then only final pieces are returned, and position() is the
// start of the rest.
class PieceWalk {
 public:
  static constexpr std::size_t batch = 256;

  PieceWalk(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool open = false);

  // Returns the ends of the next pieces, as ascending offsets in the text; each piece starts where the
  // previous one ended, the first one at position() before the call. Empty: no more.
  std::span<const std::size_t> next();
  std::size_t position() const { return position_; }

 private:
  template <typename Rule>
  std::size_t fill(const Rule& rule);  // piece by piece
  template <typename Rule, typename Marker>
  std::size_t fill_by_starts(const Rule& rule);  // a window at a time
  template <typename Rule, typename Marker>
  std::size_t mark_starts(const Rule& rule);
  std::size_t fill_seams();
  bool slide();

  const PreTokenizer& pre_;
  Classes& classes_;
  Classify classify_;
  std::string_view text_;
  bool open_;
  std::size_t position_ = 0;      // start of the first piece not returned yet
  std::size_t window_begin_ = 0;  // start of the classified window
  std::size_t window_end_ = 0;
  std::size_t window_size_;
  std::size_t decided_ = 0;     // starts are marked up to here
  std::size_t next_start_ = 0;  // first start not returned yet
  std::vector<std::uint64_t>& starts_;
  std::vector<std::size_t> regex_ends_;
  std::size_t regex_next_ = 0;
  std::array<std::size_t, batch> ends_;
};

}  // namespace plimsoll::count
