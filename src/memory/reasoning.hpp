// What a model thought before it spoke, taken out of what it said.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::memory {

// Without <think>, <thinking>, <reasoning> and <thought> blocks, and without white space around the rest. One
// that was never closed takes all that follows with it; a closing mark without an opening one, as templates
// leave it that open the block themselves, all that precedes it. Linear in the text.
std::string without_reasoning(std::string_view text);

}  // namespace plimsoll::memory
