// Rule U4: keeps data from being read as structure. Text from a document, a memory or a tool may contain a
// string such as <|im_end|>, which most servers would parse as the special token.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/count.hpp"

namespace plimsoll::count {

struct Defused {
  std::string text;       // empty if nothing was found
  std::size_t found = 0;  // strings that were broken up with a space
};

// Inserts a space after the first character of each string that a model may read as structure: special tokens
// of this tokenizer, its other added tokens for turns or tools, and marks of the known
// chat formats, because a model may be served with another tokenizer than in the
// catalogue.
Defused defuse(const Tokenizer& tokenizer, std::string_view text);

// The same where the model is not known yet: marks of the known chat formats alone. The text is always given.
Defused defuse_known(std::string_view text);

}  // namespace plimsoll::count
