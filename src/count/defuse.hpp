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

// The same text with a space behind the first character of each spelling of a special token: of those of this
// tokenizer, and of the well-known ones of others, for models whose own are not known.
Defused defuse(const Tokenizer& tokenizer, std::string_view text);

}  // namespace plimsoll::count
