// The text with its tokens made visible.
#pragma once

#include <string>

#include "plimsoll/count.hpp"

namespace plimsoll {

// In colours on a terminal, between bars elsewhere. For texts people read: at most 16 MB.
Result<void> show_tokens(const std::string& path, const Tokenizer& tokenizer, Specials specials);

}  // namespace plimsoll
