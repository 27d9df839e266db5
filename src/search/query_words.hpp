// The words of a query in the forms that they have in the index.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"
#include "search/lexical.hpp"

namespace plimsoll::search {

// Returns the search terms without stop words, each once, without their idf. A word is stemmed in the
// language of the query if that is clear, otherwise in the languages of the index, and as in English if there
// are such chunks.
std::vector<QueryTerm> words_of_query(const Lexical& lexical, std::string_view query);

}  // namespace plimsoll::search
