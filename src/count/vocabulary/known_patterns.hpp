// Which of the written-out rules (scan.hpp) a definition's pre-tokeniser is.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "count/split/pretokenize.hpp"
#include "count/split/regex_split.hpp"

namespace plimsoll::count {

// The pattern that GPT-2 cuts by, which files call ByteLevel instead of writing it out.
std::string_view gpt2_pattern();

// The rule that equals these steps, where there is one.
std::optional<Splitter> known_splitter(const std::vector<SplitStep>& steps);

// The steps that a GGUF's `tokenizer.ggml.pre` stands for; none where the name is not known.
std::optional<std::vector<SplitStep>> steps_of_gguf(std::string_view pre);

}  // namespace plimsoll::count
