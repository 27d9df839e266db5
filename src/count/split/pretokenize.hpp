// Cuts a text into pre-tokens: the pieces that no token crosses.
//
// The references do this by regular expressions with look-ahead. Those that matter are written out
// here over class masks (classify.hpp): the expression each one equals stands beside it, and the
// tests hold the two against each other. Any other expression goes through PCRE2.
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
  seams,         // cut wherever no token of the vocabulary has these two bytes side by side
  gpt2,          // GPT-2's
  gpt2_digits,   // each digit apart, then GPT-2's on what lies between (SmolLM2, Command-R)
  cl100k,        // OpenAI's cl100k, Llama 3
  cl100k_digit,  // the same with one digit a piece (Qwen)
  o200k,         // OpenAI's o200k
  tekken,        // Mistral's: o200k without contractions, one digit a piece
  deepseek,      // DeepSeek V3: numbers, then runs of Han and kana, then words
  regex,         // whatever a definition says, by PCRE2
};
inline constexpr int splitter_count = 10;

// The name that listings show.
std::string_view name_of(Splitter splitter);

// One bit per pair of bytes that stands inside some token.
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

// Bytes at the front of a text that are surely one piece's, whatever follows, but for the last few: all
// characters are of one class, or no two of them can be apart. `first` may be of another, as a space
// before a word is.
std::size_t uniform_front(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool first);

// Walks over the pieces of one text, a batch at a time.
//
// `open`: more text may follow. Then only those pieces are given that stay as they are whatever
// follows, and position() says where the rest begins.
class PieceWalk {
 public:
  static constexpr std::size_t batch = 256;

  PieceWalk(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool open = false);

  // Ends of the next pieces, as offsets in the text, ascending; each begins where the one before it
  // ended, the first one at position() as it was before the call. Empty: no more.
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
  std::size_t position_ = 0;      // start of the first piece not given yet
  std::size_t window_begin_ = 0;  // what is classified at the moment
  std::size_t window_end_ = 0;
  std::size_t window_size_;
  std::size_t decided_ = 0;     // starts are marked in the window up to here
  std::size_t next_start_ = 0;  // from here on they were not given yet
  std::vector<std::uint64_t>& starts_;
  std::vector<std::size_t> regex_ends_;
  std::size_t regex_next_ = 0;
  std::array<std::size_t, batch> ends_;
};

}  // namespace plimsoll::count
