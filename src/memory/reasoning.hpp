// Removes a model's thinking from its answer.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::memory {

// Removes <think>, <thinking>, <reasoning> and <thought> blocks and surrounding white space. An unclosed
// block extends to the end; a closing mark without an opening one, as with templates that open the block
// themselves, removes everything before it. Linear in the text.
std::string without_reasoning(std::string_view text);

}  // namespace plimsoll::memory
