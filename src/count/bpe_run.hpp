// Byte pair encoding of one pre-token that arrives in parts and may be larger than memory.
//
// The same backtracking as Bpe::encode, which works from left to right and looks at most one token
// ahead. Only the last tokens are kept for backtracking; earlier ones are counted and
// dropped. No known vocabulary backtracks more than a few tokens; `kept_bytes` allows millions.
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
  // Returns the tokens of everything fed. Nothing may be fed afterwards.
  std::uint64_t finish(Bpe::Scratch& scratch);
  // False if backtracking needed dropped text: the count may then be off.
  bool exact() const { return exact_; }

 private:
  void advance(bool to_the_end, Bpe::Scratch& scratch);
  void drop_front();

  const Bpe* bpe_;
  std::size_t longest_token_;
  std::string text_;  // from the first kept token
  std::vector<std::uint32_t> tokens_;
  std::vector<std::uint64_t> closed_;  // positions that cannot end a token, relative to text_
  std::size_t at_ = 0;                 // start of the next token, relative to text_
  std::uint32_t trying_ = no_token;    // a rejected token: try a shorter one
  std::uint64_t counted_ = 0;          // dropped tokens
  bool exact_ = true;
};

}  // namespace plimsoll::count
