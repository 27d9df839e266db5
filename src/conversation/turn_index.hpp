// Ranks the turns of a conversation for a question: which of those that left the window answer it.
//
// Built for one question or for many. Words (BM25, over whole turns and over their parts of a few
// sentences), meanings (vectors of the user's sentences), who spoke, the days that the question names and
// what was said nearby add up to one score; docs/conversations.md says how the weights were set. Pure; a
// question costs O(postings of its words + turns).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plimsoll/document.hpp"

namespace plimsoll::conversation {

struct SaidTurn {
  bool by_user = false;
  std::string_view text;    // must outlive the index
  std::int64_t at_ms = 0;   // UTC; 0: not known
  std::uint32_t group = 0;  // turns of different groups are not neighbours
};

// Unit vectors of a turn's sentences, one after another, each number times 127; empty: not known.
using SentenceVectors = std::vector<std::int8_t>;

struct TurnQuestion {
  std::string_view text;
  std::int64_t at_ms = 0;                       // UTC; 0: not known, and days are not resolved
  SentenceVectors vector{};                     // empty: by words alone
  std::span<const SentenceVectors> meanings{};  // by turn; empty: by words alone
};

struct RankedTurn {
  std::size_t turn = 0;
  double score = 0;
  std::uint64_t focus = 0;  // byte of the turn's text where the best part begins
};

// The sentences whose vectors a turn has, in order.
std::vector<Span> turn_sentences(std::string_view text);
SentenceVectors packed_vectors(std::span<const float> values);

class TurnIndex {
 public:
  void add(const SaidTurn& turn);
  std::size_t size() const { return turns_.size(); }
  const SaidTurn& turn(std::size_t index) const { return turns_[index]; }

  // Best first; only turns that share a word with the question or are near it in meaning.
  std::vector<RankedTurn> rank(const TurnQuestion& question) const;

  // Plain BM25 over whole turns, best first: what the ranking is measured against.
  std::vector<RankedTurn> rank_by_words(std::string_view question) const;

 private:
  struct Part {
    std::uint32_t turn = 0;
    std::uint32_t start = 0;  // byte of the turn's text
    float words = 0;
  };
  struct Posting {
    std::uint32_t part = 0;
    std::uint32_t times = 0;
  };
  struct WordScores {
    std::vector<double> turns, parts;  // best part of each turn; both as shares of the question's words
    std::vector<std::uint32_t> best;   // that part
  };
  WordScores score_words(std::string_view question) const;

  std::vector<SaidTurn> turns_;
  std::vector<float> words_;             // of each turn
  std::vector<std::uint32_t> episodes_;  // of each turn: neighbours without a long pause between them
  std::vector<bool> has_number_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> first_part_;  // of each turn
  std::unordered_map<std::string, std::vector<Posting>> postings_;
  double all_words_ = 0;
};

}  // namespace plimsoll::conversation
