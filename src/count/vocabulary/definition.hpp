// A tokenizer's definition, read from a published file. It is compiled once
// (compile.hpp), and is the input of the plain encoder (plain.hpp).
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
  bpe_chars,  // merges start from characters; unknown ones fall back to bytes or unk
  unigram,    // the most probable tokens
  wordpiece,  // the longest piece first
};

// Normalisation of a text before it is split. Stored spaces are real spaces: if a definition uses
// U+2581 for a space, the tokens were converted, and a literal U+2581 in a text becomes a space.
struct Normalizer {
  // nmt_nfkc: SentencePiece's rule of that name. NFKC as of Unicode 10, but control characters are removed,
  // white space and marks of no width become a space, and the fullwidth tilde stays.
  enum class Form : std::uint8_t { none, nfc, nfd, nfkc, nfkd, nmt_nfkc } form = Form::none;
  bool bar_is_space = false;         // the vocabulary writes a space as U+2581
  bool prefix_space = false;         // adds a space before a text
  bool prefix_unless_space = false;  // ... unless it starts with one
  bool prefix_first_only = false;    // ... only at the start, not after a special token
  bool lower_case = false;
  bool strip_accents = false;
  bool clean_text = false;       // BERT: removes controls, white space becomes a space
  bool split_han = false;        // BERT: spaces around Han characters
  bool collapse_spaces = false;  // SentencePiece: runs of spaces become one, ends are trimmed
};

// The position of a range of text, for prefixes.
enum class Place : std::uint8_t {
  text_front,     // at the start of the sequence
  segment_front,  // after an added token
  inside,         // continues previous text
};

struct AddedToken {
  std::string text;
  TokenId id = 0;
  bool special = false;  // parsed only if the policy says so; the others always
  bool strips_left = false;
  bool strips_right = false;
  bool whole_word = false;
  bool normalized = false;  // matched after normalisation, not before
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
  // Merges as pairs of indexes into `tokens`, in order; the result is the token of both
  // texts joined. With `by_rank`: any two tokens whose joined text is a token, lowest index first.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;
  bool by_rank = false;
  bool whole_piece_first = false;  // a piece that is a token is used without merging
  std::vector<AddedToken> added;
  std::array<std::int64_t, 256> byte_tokens = no_byte_tokens();  // <0x00>…; -1: none
  std::int64_t unknown = -1;                                     // id for unknown text; -1: it is dropped
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
