// Byte pair encoding of one pre-token that arrives in stretches and may be longer than memory.
//
// The same backtracking as Bpe::encode, which decides from left to right and looks at most one token
// ahead. Only the last stretch of tokens is kept for going back; what lies before it is counted and
// dropped. No vocabulary we know goes back more than a few tokens; `kept_bytes` leaves it millions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "count/bpe.hpp"

namespace plimsoll::count {

class BpeRun {
 public:
  static constexpr std::size_t kept_bytes = std::size_t{1} << 20;

  BpeRun(const Bpe& bpe, std::size_t longest_token) : bpe_(&bpe), longest_token_(longest_token) {}

  void feed(std::string_view text, Bpe::Scratch& scratch);
  // Tokens of all that was fed. Nothing may be fed after it.
  std::uint64_t finish(Bpe::Scratch& scratch);
  // False if going back went further than what was kept: the count may then be off.
  bool exact() const { return exact_; }

 private:
  void advance(bool to_the_end, Bpe::Scratch& scratch);
  void drop_front();

  const Bpe* bpe_;
  std::size_t longest_token_;
  std::string text_;  // from the first token kept
  std::vector<std::uint32_t> tokens_;
  std::vector<std::uint64_t> closed_;  // places that are no token's end, relative to text_
  std::size_t at_ = 0;                 // where the next token begins, relative to text_
  std::uint32_t trying_ = no_token;    // a token that was taken back: a shorter one is wanted
  std::uint64_t counted_ = 0;          // tokens that were dropped
  bool exact_ = true;
};

}  // namespace plimsoll::count
