// GPT-2's alphabet: a printable character for each byte, in which byte-level vocabularies are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::count {

// The bytes that a token's characters stand for; nothing where one is not of the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view token);

}  // namespace plimsoll::count
