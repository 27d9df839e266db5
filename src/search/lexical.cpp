#include "search/lexical.hpp"

#include <algorithm>

#include "base/text/words.hpp"
#include "search/max_score.hpp"

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

// Returns the query's search terms, unique.
std::vector<std::string> stems_of(std::string_view query) {
  std::vector<base::Word> words;
  base::read_words(query, words);
  std::vector<std::string> stems;
  for (base::Word& word : words)
    if (!word.stop && std::find(stems.begin(), stems.end(), word.stem) == stems.end())
      stems.push_back(std::move(word.stem));
  return stems;
}

struct FoundTerm {
  float idf = 0;
  std::vector<std::optional<Term>> by_part;
};

FoundTerm find_term(const Lexical& lexical, std::string_view stem) {
  FoundTerm found;
  std::uint64_t with_term = 0;
  for (const auto& part : lexical.parts()) {
    found.by_part.push_back(part->segment().find(stem));
    if (found.by_part.back()) with_term += part->living_with(*found.by_part.back());
  }
  found.idf = idf_of(lexical.size(), with_term);
  return found;
}

template <typename SearchPart>
std::vector<Hit> search_parts(const Lexical& lexical, std::string_view query, std::size_t k,
                              const std::vector<DocumentId>* only, const SearchPart& search) {
  std::vector<FoundTerm> terms;
  float most = 0;
  for (const std::string& stem : stems_of(query)) {
    terms.push_back(find_term(lexical, stem));
    most += terms.back().idf * (bm25_k1 + 1);
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
  std::vector<QueryTerm> terms;
  for (std::string& stem : stems_of(query)) {
    const float idf = find_term(*this, stem).idf;
    terms.push_back({std::move(stem), idf});
  }
  return terms;
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
