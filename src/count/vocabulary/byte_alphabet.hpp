// GPT-2's alphabet: a printable character for each byte, used in byte-level vocabularies.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::count {

// Converts a token to bytes; none: a character is not in the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view token);

}  // namespace plimsoll::count
