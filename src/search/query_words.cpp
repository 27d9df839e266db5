#include "search/query_words.hpp"

#include <algorithm>

#include "base/text/words.hpp"
#include "search/language_terms.hpp"

namespace plimsoll::search {
namespace {

using base::TextLanguage;

struct Share {
  TextLanguage language = TextLanguage::english;
  std::uint64_t chunks = 0;
};

// Returns the languages of the index other than English, the most frequent first.
std::vector<Share> languages_of(const Lexical& lexical) {
  std::vector<Share> out;
  for (std::size_t i = 1; i < base::text_languages; ++i) {
    const auto language = static_cast<TextLanguage>(i);
    const std::string term = language_term(language);
    std::uint64_t chunks = 0;
    for (const auto& part : lexical.parts())
      if (const auto found = part->segment().find(term)) chunks += part->living_with(*found);
    if (chunks > 0) out.push_back({language, chunks});
  }
  std::ranges::stable_sort(out, std::greater<>(), &Share::chunks);
  return out;
}

struct QueryLanguages {
  std::vector<TextLanguage> all;  // to stem in; the first decides what is a stop word if `is_clear`
  bool is_clear = true;
};

QueryLanguages languages_for(const Lexical& lexical, std::string_view query) {
  constexpr std::size_t most_languages = 4;
  constexpr std::uint64_t most_share = 5;  // four of five chunks decide for a query of two words
  const std::vector<Share> shares = languages_of(lexical);
  if (shares.empty()) return {{TextLanguage::english}, true};
  std::uint64_t foreign = 0;
  for (const Share& share : shares) foreign += share.chunks;
  const std::uint64_t english = lexical.size() - std::min<std::uint64_t>(foreign, lexical.size());
  QueryLanguages out;
  auto clear = base::language_of(query);
  // A few chunks may have been taken for those of a related language.
  constexpr std::uint64_t least_share = 50;
  const auto is_there = [&](TextLanguage language) {
    const auto share = std::ranges::find(shares, language, &Share::language);
    return language == TextLanguage::english ||
           (share != shares.end() && share->chunks * least_share >= lexical.size());
  };
  if (clear && !is_there(*clear)) clear.reset();
  if (!clear && shares.front().chunks * most_share >= lexical.size() * (most_share - 1))
    clear = shares.front().language;
  out.is_clear = clear.has_value();
  if (clear) {
    out.all.push_back(*clear);
    // Chunks without a clear language count as English, and so do names and commands in other languages.
    if (*clear != TextLanguage::english) out.all.push_back(TextLanguage::english);
    return out;
  }
  if (english > 0) out.all.push_back(TextLanguage::english);
  for (const Share& share : shares)
    if (out.all.size() < most_languages) out.all.push_back(share.language);
  return out;
}

}  // namespace

std::vector<QueryTerm> words_of_query(const Lexical& lexical, std::string_view query) {
  const QueryLanguages languages = languages_for(lexical, query);
  std::vector<QueryTerm> out;
  for (base::WordScanner scanner(query); scanner.next();) {
    std::vector<std::string> stems;
    bool is_first = true, is_stop = false;
    for (const TextLanguage language : languages.all) {
      const base::StemmedWord word = base::stem_word(scanner.written(), scanner.folded(), language);
      if (languages.is_clear && is_first) is_stop = word.stop;
      if ((!word.stop || languages.is_clear) && std::ranges::find(stems, word.stem) == stems.end())
        stems.emplace_back(word.stem);
      is_first = false;
    }
    if (is_stop || stems.empty()) continue;
    if (std::ranges::find(out, stems.front(), &QueryTerm::term) != out.end()) continue;
    QueryTerm term;
    term.term = std::move(stems.front());
    term.word = scanner.folded();
    term.others.assign(std::make_move_iterator(stems.begin() + 1), std::make_move_iterator(stems.end()));
    out.push_back(std::move(term));
  }
  return out;
}

}  // namespace plimsoll::search
