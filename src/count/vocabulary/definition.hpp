// A tokenizer as its authors define it, read from one of their files. It is turned into a compiled
// tokenizer once (compile.hpp), and is what the plain encoder (plain.hpp) works from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "count/split/pretokenize.hpp"
#include "count/split/regex_split.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::count {

enum class ModelKind : std::uint8_t {
  bpe_bytes,  // merges start from single bytes
  bpe_chars,  // merges start from characters; one that the vocabulary lacks falls back to bytes or unk
  unigram,    // the most probable way to cut the text
  wordpiece,  // the longest piece first
};

// What is done to a text before it is cut. Stored spaces are real spaces: where a definition writes
// U+2581 for a space, the tokens were translated and a literal U+2581 in a text becomes a space.
struct Normalizer {
  enum class Form : std::uint8_t { none, nfc, nfd, nfkc, nfkd } form = Form::none;
  bool bar_is_space = false;         // U+2581 is how the vocabulary spells a space
  bool prefix_space = false;         // a text gets one space in front
  bool prefix_unless_space = false;  // ... unless it begins with one
  bool prefix_first_only = false;    // ... only at the very front, not after a special token
  bool lower_case = false;
  bool strip_accents = false;
  bool clean_text = false;       // BERT: controls vanish, white space becomes a space
  bool split_han = false;        // BERT: spaces around Han characters
  bool collapse_spaces = false;  // SentencePiece: runs of spaces become one, ends are trimmed
};

// Where a stretch of text stands, for what goes in front of a text.
enum class Place : std::uint8_t {
  text_front,     // it opens the sequence
  segment_front,  // it follows an added token
  inside,         // it goes on with text that came before
};

struct AddedToken {
  std::string text;
  TokenId id = 0;
  bool special = false;  // parsed only where the policy says so; the others always
  bool strips_left = false;
  bool strips_right = false;
  bool whole_word = false;
  bool normalized = false;  // looked for after normalising, not before
};

struct VocabularyEntry {
  std::string bytes;
  TokenId id = 0;
  double score = 0;  // unigram: log probability
};

struct Definition {
  TokenizerInfo info;
  ModelKind kind = ModelKind::bpe_bytes;
  std::vector<VocabularyEntry> tokens;
  // Merges as pairs of indexes into `tokens`, first one first; the result is the token that has both
  // texts joined. `by_rank` instead: any two tokens whose joined text is a token, lowest index first.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;
  bool by_rank = false;
  bool whole_piece_first = false;  // a piece that is a token is that token, whatever the merges say
  std::vector<AddedToken> added;
  std::array<std::int64_t, 256> byte_tokens = no_byte_tokens();  // <0x00>…; -1: none
  std::int64_t unknown = -1;  // id for what the vocabulary cannot say; -1: it vanishes
  bool fuse_unknown = false;
  Normalizer normalizer;
  Splitter splitter = Splitter::whole;
  std::vector<SplitStep> split_steps;  // for Splitter::regex
  std::string continuing_prefix;       // wordpiece: "##"
  std::size_t longest_word = 100;      // wordpiece: a longer word is unknown

  static constexpr std::array<std::int64_t, 256> no_byte_tokens() {
    std::array<std::int64_t, 256> none{};
    none.fill(-1);
    return none;
  }
};

}  // namespace plimsoll::count
