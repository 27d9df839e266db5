// The words of a query in the forms that they have in the index.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"
#include "search/lexical.hpp"

namespace plimsoll::search {

// Returns the search terms without their idf: base/text/query_words.hpp, with the languages of the index.
std::vector<QueryTerm> words_of_query(const Lexical& lexical, std::string_view query);

}  // namespace plimsoll::search
