#include "search/query_words.hpp"

#include "base/text/query_words.hpp"
#include "search/language_terms.hpp"

namespace plimsoll::search {

std::vector<QueryTerm> words_of_query(const Lexical& lexical, std::string_view query) {
  std::vector<base::LanguageShare> foreign;
  for (std::size_t i = 1; i < base::text_languages; ++i) {
    const auto language = static_cast<base::TextLanguage>(i);
    const std::string term = language_term(language);
    std::uint64_t chunks = 0;
    for (const auto& part : lexical.parts())
      if (const auto found = part->segment().find(term)) chunks += part->living_with(*found);
    if (chunks > 0) foreign.push_back({language, chunks});
  }
  return base::words_of_query(query, std::move(foreign), lexical.size());
}

}  // namespace plimsoll::search
