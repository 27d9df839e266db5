// Finds names in a text: people, places, works, organisations, identifiers. No model, no dictionary: a name
// is a run of capitalised words ("Plantation of Ulster", "P. L. Travers", "2015 Orange Bowl"), an acronym, an
// identifier ("GatherOptions", "most_terms") or the text of a Markdown link; not a number or a date. Linear
// time. Accepts any bytes. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::base {

// The most words of a name; longer runs are cut.
inline constexpr std::size_t longest_name_words = 10;

struct Name {
  std::string key;                   // folded words with single spaces, without a leading article
  std::uint32_t start = 0, end = 0;  // bytes of the text

  bool operator==(const Name&) const = default;
};

// A word as part of a possible name.
struct NameWord {
  std::string folded;  // without "'s"
  std::uint32_t start = 0, end = 0;
  bool capital = false;  // starts with a capital or a digit
  bool stop = false;     // a common English word
  bool apart = false;    // cannot be in one title with the word before
};

// Replaces the contents of `out`. Names do not overlap.
void read_names(std::string_view text, std::vector<Name>& out);
void read_name_words(std::string_view text, std::vector<NameWord>& out);

// Returns the key of a text that is a name as a whole, for example a title; "" if it has no words or too
// many.
std::string name_key(std::string_view text);

// What a text is about, by its first lines: its title ("Title: text", or a short first line), and the other
// names that stand before the first verb ("Santería, also known as Lucumi, is ...").
struct OpeningNames {
  std::vector<std::string> titles;  // keys; with and without what is in parentheses
  std::vector<std::string> others;  // keys; none of `titles`
};
OpeningNames opening_names(std::string_view text);

}  // namespace plimsoll::base
