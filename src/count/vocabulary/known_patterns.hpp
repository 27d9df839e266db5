// Matches a definition's pre-tokeniser to an implemented rule (scan.hpp).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "count/split/pretokenize.hpp"
#include "count/split/regex_split.hpp"

namespace plimsoll::count {

// GPT-2's pattern, which files call ByteLevel.
std::string_view gpt2_pattern();

// Returns the rule that equals these steps, if there is one.
std::optional<Splitter> known_splitter(const std::vector<SplitStep>& steps);

// Returns the steps for a GGUF's `tokenizer.ggml.pre`; none: unknown name.
std::optional<std::vector<SplitStep>> steps_of_gguf(std::string_view pre);

}  // namespace plimsoll::count
