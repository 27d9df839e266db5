// The language of a chunk is a term of the inverted index, like its names. English chunks have none.
#pragma once

#include <string>

#include "base/text/language.hpp"

namespace plimsoll::search {

// A byte that neither words nor names (name_terms.hpp) start with.
inline constexpr char language_mark = 4;

inline std::string language_term(base::TextLanguage language) {
  return language_mark + std::string(base::name_of(language));
}

}  // namespace plimsoll::search
