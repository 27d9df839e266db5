#include "base/text/query_words.hpp"

#include <algorithm>

#include "base/text/words.hpp"

namespace plimsoll::base {
namespace {

struct QueryLanguages {
  std::vector<TextLanguage> all;  // to stem in; the first decides what is a stop word if `is_clear`
  bool is_clear = true;
};

QueryLanguages languages_for(std::string_view query, const std::vector<LanguageShare>& shares,
                             std::uint64_t chunks) {
  constexpr std::size_t most_languages = 4;
  constexpr std::uint64_t most_share = 5;  // four of five chunks decide for a query of two words
  if (shares.empty()) return {{TextLanguage::english}, true};
  std::uint64_t foreign = 0;
  for (const LanguageShare& share : shares) foreign += share.chunks;
  const std::uint64_t english = chunks - std::min(foreign, chunks);
  QueryLanguages out;
  auto clear = language_of(query);
  // A few chunks may have been taken for those of a related language.
  constexpr std::uint64_t least_share = 50;
  const auto is_there = [&](TextLanguage language) {
    const auto share = std::ranges::find(shares, language, &LanguageShare::language);
    return language == TextLanguage::english ||
           (share != shares.end() && share->chunks * least_share >= chunks);
  };
  if (clear && !is_there(*clear)) clear.reset();
  if (!clear && shares.front().chunks * most_share >= chunks * (most_share - 1))
    clear = shares.front().language;
  out.is_clear = clear.has_value();
  if (clear) {
    out.all.push_back(*clear);
    // Chunks without a clear language count as English, and so do names and commands in other languages.
    if (*clear != TextLanguage::english) out.all.push_back(TextLanguage::english);
    return out;
  }
  if (english > 0) out.all.push_back(TextLanguage::english);
  for (const LanguageShare& share : shares)
    if (out.all.size() < most_languages) out.all.push_back(share.language);
  return out;
}

}  // namespace

std::vector<QueryTerm> words_of_query(std::string_view query, std::vector<LanguageShare> foreign,
                                      std::uint64_t chunks) {
  std::ranges::stable_sort(foreign, std::greater<>(), &LanguageShare::chunks);
  const QueryLanguages languages = languages_for(query, foreign, chunks);
  std::vector<QueryTerm> out;
  for (WordScanner scanner(query); scanner.next();) {
    std::vector<std::string> stems;
    bool is_first = true, is_stop = false;
    for (const TextLanguage language : languages.all) {
      const StemmedWord word = stem_word(scanner.written(), scanner.folded(), language);
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

}  // namespace plimsoll::base
