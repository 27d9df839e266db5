// A tokenizer's model over its compiled arrays: encodes a pre-token.
#pragma once

#include <string_view>
#include <vector>

#include "count/bpe.hpp"
#include "count/unigram.hpp"
#include "count/vocabulary/compiled.hpp"
#include "count/wordpiece.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll::count {

// A token of a text: the model's id and its end.
struct Placed {
  TokenId id;
  std::size_t end;
};

class Model {
 public:
  struct Scratch {
    Bpe::Scratch bpe;
    Unigram::Scratch unigram;
  };

  Model() = default;
  explicit Model(const Compiled& compiled);

  std::size_t count(std::string_view piece, Scratch& scratch) const;
  // Appends the piece's tokens; ends are offsets in the piece plus `from`.
  void encode(std::string_view piece, std::size_t from, Scratch& scratch, std::vector<Placed>& out) const;
  // Returns the BPE if a piece can be encoded in parts, else null.
  const Bpe* streamable() const {
    return (kind_ == ModelKind::bpe_bytes || kind_ == ModelKind::bpe_chars) && bpe_.regular() ? &bpe_
                                                                                              : nullptr;
  }
  // counts[i]: tokens of the piece's first i bytes.
  void prefix_counts(std::string_view piece, Scratch& scratch, std::vector<std::uint32_t>& counts) const;

 private:
  const Compiled* compiled_ = nullptr;
  ModelKind kind_ = ModelKind::bpe_bytes;
  Bpe bpe_;
  Unigram unigram_;
  WordPiece wordpiece_;
};

}  // namespace plimsoll::count
