// Normalises model names, so that different spellings of one name are equal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::window {

// Lower case, split at - : @ _ / and spaces, and between a letter and a digit: "Llama-3.1-8B" and
// "llama3.1:8b" are both [llama, 3.1, 8b]. A dot never splits: 4 and 4.1 are different words.
std::vector<std::string> words_of(std::string_view name);

// Joins the words to one key.
std::string key_of(const std::vector<std::string>& words);

// Removes prefixes of providers: folders, regions and vendors of Bedrock, "ft:".
std::string_view without_provider(std::string_view name);

// Returns ever shorter spellings, starting with the whole name: each drops one more word at the end that does
// not identify the model (a date, a quantization, "instruct").
std::vector<std::vector<std::string>> barer_and_barer(std::string_view name);

}  // namespace plimsoll::window
