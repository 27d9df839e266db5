// The words of a query in the forms that they have in an index.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/text/language.hpp"
#include "plimsoll/index.hpp"

namespace plimsoll::base {

struct LanguageShare {
  TextLanguage language = TextLanguage::english;
  std::uint64_t chunks = 0;
};

// Returns the search terms without stop words, each once, without their idf. A word is stemmed in the
// language of the query if that is clear, otherwise in the languages of the index, and as in English if there
// are such chunks. `foreign`: the index's languages other than English, each with at least one chunk;
// `chunks`: of the whole index.
std::vector<QueryTerm> words_of_query(std::string_view query, std::vector<LanguageShare> foreign,
                                      std::uint64_t chunks);

}  // namespace plimsoll::base
