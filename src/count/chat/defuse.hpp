// Rule U4: what is data stays data. A text from a document, a memory or a tool may spell a special token such
// as <|im_end|>, which most servers would take for the token itself.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/count.hpp"

namespace plimsoll::count {

struct Defused {
  std::string text;       // empty where nothing was found
  std::size_t found = 0;  // spellings that a space now stands in
};

// The same text with a space behind the first character of each spelling that a model takes for structure:
// the special tokens of this tokenizer, its other added tokens that mark turns or tools, and what the known
// chat formats are written with, because a model may be served with another tokenizer than the catalogue
// says.
Defused defuse(const Tokenizer& tokenizer, std::string_view text);

}  // namespace plimsoll::count
