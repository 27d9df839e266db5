// The pieces of a SentencePiece vocabulary, from its model file or from a GGUF.
#pragma once

#include <string>
#include <vector>

#include "count/vocabulary/definition.hpp"

namespace plimsoll::count {

enum class SpmType : std::uint8_t { none, normal, unknown, control, user_defined, unused, byte, other };

struct SpmPiece {
  std::string text;
  float score = 0;
  SpmType type = SpmType::normal;
};

// Sets tokens, byte tokens, unknown and added tokens; the caller sets the normalisation.
Definition from_spm_pieces(const std::vector<SpmPiece>& pieces, bool unigram);

}  // namespace plimsoll::count
