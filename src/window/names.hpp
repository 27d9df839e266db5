// Model names taken apart, so that different spellings of one name come out the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::window {

// Lower case, cut at - : @ _ / and spaces, and where a letter is followed by a digit: "Llama-3.1-8B" and
// "llama3.1:8b" are both [llama, 3.1, 8b]. A dot never cuts: 4 and 4.1 are different words.
std::vector<std::string> words_of(std::string_view name);

// The words as one key.
std::string key_of(const std::vector<std::string>& words);

// Without what providers put before a name: folders, regions and vendors of Bedrock, "ft:".
std::string_view without_provider(std::string_view name);

// Spellings from the whole to the barest: each without one more word at the end that says nothing of which
// model it is (a date, a quantization, "instruct"). The first is the whole.
std::vector<std::vector<std::string>> barer_and_barer(std::string_view name);

}  // namespace plimsoll::window
