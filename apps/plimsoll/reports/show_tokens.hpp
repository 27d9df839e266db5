// Shows a text with its token boundaries.
#pragma once

#include <string>

#include "plimsoll/count.hpp"

namespace plimsoll {

// Uses colours on a terminal, bars elsewhere. At most 16 MB of text.
Result<void> show_tokens(const std::string& path, const Tokenizer& tokenizer, Specials specials);

}  // namespace plimsoll
