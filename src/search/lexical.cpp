#include "search/lexical.hpp"

#include <algorithm>
#include <map>

#include "search/max_score.hpp"
#include "search/name_terms.hpp"
#include "search/query_words.hpp"

namespace plimsoll::search {

LivingPart::LivingPart(std::shared_ptr<const Segment> segment, std::shared_ptr<const Bits> dead)
    : part_{std::move(segment), std::move(dead)} {
  if (!part_.dead) return;
  part_.dead->each([&](std::size_t place) {
    ++dead_chunks_;
    dead_words_ += part_.segment->lengths()[place];
  });
  dead_with_ = std::make_unique<std::atomic<std::uint32_t>[]>(part_.segment->terms());
}

std::uint64_t LivingPart::living_with(const Term& term) const {
  if (!dead_with_) return term.chunks;
  std::atomic<std::uint32_t>& known = dead_with_[term.number];
  std::uint32_t dead = known.load(std::memory_order_relaxed);
  if (dead == 0) {  // two threads may count at once, with the same result
    dead = 1;
    DecodedBlock block;
    for (std::size_t i = 0; i < term.blocks.size(); ++i) {
      term.decode_places(i, block);
      for (std::size_t j = 0; j < block.size; ++j) dead += part_.dead->test(block.places[j]) ? 1 : 0;
    }
    known.store(dead, std::memory_order_relaxed);
  }
  return term.chunks - (dead - 1);
}

Lexical::Lexical(std::vector<std::shared_ptr<const LivingPart>> parts) : parts_(std::move(parts)) {
  std::uint64_t words = 0;
  for (const auto& part : parts_) {
    living_ += part->living();
    words += part->living_words();
  }
  if (living_ > 0) average_ = std::max(1.0, static_cast<double>(words) / static_cast<double>(living_));
  shares_ = std::make_unique<const Shares>(average_);
}

namespace {

struct FoundTerm {
  float idf = 0;
  std::vector<std::optional<Term>> by_part;
};

std::uint64_t find_in_parts(const Lexical& lexical, std::string_view stem,
                            std::vector<std::optional<Term>>& by_part) {
  std::uint64_t with_term = 0;
  for (const auto& part : lexical.parts()) {
    by_part.push_back(part->segment().find(stem));
    if (by_part.back()) with_term += part->living_with(*by_part.back());
  }
  return with_term;
}

// Returns the terms of a word: one for each of its stems. They are one word, and share its idf.
std::vector<FoundTerm> find_terms(const Lexical& lexical, const QueryTerm& word) {
  std::vector<FoundTerm> found(1 + word.others.size());
  std::uint64_t with_term = find_in_parts(lexical, word.term, found[0].by_part);
  for (std::size_t i = 0; i < word.others.size(); ++i)
    with_term += find_in_parts(lexical, word.others[i], found[i + 1].by_part);
  const float idf = idf_of(lexical.size(), std::min<std::uint64_t>(with_term, lexical.size()));
  for (FoundTerm& term : found) term.idf = idf;
  return found;
}

template <typename SearchPart>
std::vector<Hit> search_parts(const Lexical& lexical, std::string_view query, std::size_t k,
                              const std::vector<DocumentId>* only, const SearchPart& search) {
  std::vector<FoundTerm> terms;
  float most = 0;
  for (const QueryTerm& word : words_of_query(lexical, query)) {
    for (FoundTerm& term : find_terms(lexical, word)) {
      terms.push_back(std::move(term));
      most += terms.back().idf * (bm25_k1 + 1);
    }
  }
  const float units = units_for(most);
  BestChunks best(std::min(k, lexical.size()));
  for (std::uint32_t i = 0; i < lexical.parts().size(); ++i) {
    const LivingPart& part = *lexical.parts()[i];
    std::vector<WeighedTerm> weighed;
    for (const FoundTerm& term : terms)
      if (term.by_part[i]) weighed.push_back({*term.by_part[i], term.idf * (bm25_k1 + 1) * units});
    if (weighed.empty()) continue;
    Bits allowed;
    if (only != nullptr) allowed = part.segment().places_of(*only);
    // A share grows at most as much as the average: see LengthNorm.
    const double grown = lexical.average_words() / part.segment().header().average;
    search(part, i, weighed, lexical.shares(), static_cast<float>(std::max(1.0, grown)),
           only != nullptr ? &allowed : nullptr, best);
  }
  std::vector<Hit> hits;
  for (const auto& entry : best.take()) {
    const Segment& segment = lexical.parts()[entry.id.part]->segment();
    hits.push_back({segment.chunks()[entry.id.place], segment.documents()[entry.id.place],
                    static_cast<float>(entry.score) / units});
  }
  return hits;
}

}  // namespace

std::vector<QueryTerm> Lexical::terms(std::string_view query) const {
  std::vector<QueryTerm> terms = words_of_query(*this, query);
  for (QueryTerm& term : terms) term.idf = find_terms(*this, term).front().idf;
  return terms;
}

NamedChunks Lexical::named(NameUse use, std::string_view key, std::size_t most) const {
  NamedChunks out;
  const std::string letters = name_term(use, key);
  DecodedBlock block;
  for (const auto& part : parts_) {
    const auto term = part->segment().find(letters);
    if (!term) continue;
    out.total += part->living_with(*term);
    for (std::size_t i = 0; i < term->blocks.size() && out.chunks.size() < most; ++i) {
      term->decode(i, block);
      for (std::size_t j = 0; j < block.size && out.chunks.size() < most; ++j) {
        const Place place = block.places[j];
        if (part->is_dead(place)) continue;
        out.chunks.push_back({part->segment().chunks()[place], part->segment().documents()[place],
                              static_cast<float>(block.counts[j] + 1)});
      }
    }
  }
  return out;
}

std::vector<NameCount> Lexical::most_mentioned(std::size_t most) const {
  const std::string prefix = name_term(NameUse::mention, "");
  std::map<std::string_view, std::size_t> counts;
  for (const auto& part : parts_) {
    const Segment& segment = part->segment();
    for (std::size_t i = 0; i < segment.terms(); ++i) {
      const std::string_view letters = segment.letters(i);
      if (letters.starts_with(prefix))
        counts[letters.substr(prefix.size())] += part->living_with(segment.term(i));
    }
  }
  std::vector<NameCount> out;
  for (const auto& [key, chunks] : counts)
    if (chunks > 0) out.push_back({std::string(key), chunks});
  std::ranges::stable_sort(out, std::greater<>(), &NameCount::chunks);
  if (out.size() > most) out.resize(most);
  return out;
}

std::vector<Hit> Lexical::search(std::string_view query, std::size_t k,
                                 const std::vector<DocumentId>* only) const {
  return search_parts(*this, query, k, only, search_part);
}

std::vector<Hit> Lexical::search_all(std::string_view query, std::size_t k,
                                     const std::vector<DocumentId>* only) const {
  return search_parts(*this, query, k, only,
                      [](const LivingPart& part, std::uint32_t number, std::span<const WeighedTerm> terms,
                         const Shares& shares, float, const Bits* allowed, BestChunks& best) {
                        search_part_reading_all(part, number, terms, shares, allowed, best);
                      });
}

}  // namespace plimsoll::search
