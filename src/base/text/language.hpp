// Detects the language of a text by its script and its common words, and knows the common words of each.
//
// No model, no table of letters: a text of ten words or more nearly always has several of the words that a
// language cannot do without. Linear in the first words of the text. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll::base {

// Those that Snowball has a stemmer for and that can be told apart. English is first: it is what is assumed.
enum class TextLanguage : std::uint8_t {
  english,
  german,
  french,
  spanish,
  italian,
  portuguese,
  dutch,
  swedish,
  danish,
  norwegian,
  finnish,
  romanian,
  hungarian,
  turkish,
  russian,
  greek,
  arabic
};
inline constexpr std::size_t text_languages = 17;

// Returns the name that Snowball has for it: "german".
std::string_view name_of(TextLanguage language);

// Returns the language; none: too short, mixed, or another one. Reads at most `most_words` words.
std::optional<TextLanguage> language_of(std::string_view text, std::size_t most_words = 100);

// `folded`: as WordScanner returns it. Not for English, which has a list of its own in words.cpp.
bool is_common_word(TextLanguage language, std::string_view folded);

}  // namespace plimsoll::base
