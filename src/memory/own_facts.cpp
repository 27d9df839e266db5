#include "memory/own_facts.hpp"

#include <limits>

#include "base/log.hpp"
#include "base/try.hpp"

namespace plimsoll::memory {
namespace {

class OwnProvider final : public MemoryProvider {
 public:
  explicit OwnProvider(OwnFacts& facts) : facts_(facts) {}

  std::string_view name() const override { return {}; }
  bool takes_limits() const override { return false; }
  bool is_filtered() const override { return true; }

  Result<std::vector<RecalledFact>> recall(const RecallAsk& ask, Deadline deadline) override {
    const FactScope scope{ask.owner, ask.session, /*shared=*/true};
    TRY(const bool any, facts_.store().has_facts(scope));
    if (!any) return std::vector<RecalledFact>();  // without waiting for an embedder
    // No limit: old or unimportant facts are dropped later and must not displace others.
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    TRY(OwnSearch found, facts_.search(scope, ask.query, all, !ask.only_related, deadline));
    return std::move(found.facts);
  }

 private:
  OwnFacts& facts_;
};

}  // namespace

FactVector OwnFacts::vector_of(std::string_view text, Deadline deadline, std::string& why) {
  if (!embedder_) {
    why = "there is no embedder (setting embedders)";
    return {};
  }
  const auto embedder = embedder_();
  if (!embedder) {
    why = embedder.error().what;
    return {};
  }
  auto values = (*embedder)->embed_query(text, deadline);
  if (!values) {
    why = values.error().what;
    return {};
  }
  return {(*embedder)->info().name, *std::move(values)};
}

void OwnFacts::fill_in(std::vector<HeldFact>& held, Embedder& embedder, Deadline deadline) {
  constexpr std::size_t most = 32;  // the others follow with the next searches
  std::vector<HeldFact*> without;
  std::vector<std::string_view> texts;
  for (HeldFact& one : held) {
    if (one.vector.embedder == embedder.info().name || without.size() == most) continue;
    without.push_back(&one);
    texts.push_back(one.fact.text);
  }
  if (texts.empty()) return;
  const auto values = embedder.embed(texts, deadline);
  const std::size_t dimensions = embedder.info().dimensions;
  if (!values || values->size() != texts.size() * dimensions) return;
  for (std::size_t i = 0; i < without.size(); ++i) {
    const auto begin = values->begin() + static_cast<std::ptrdiff_t>(i * dimensions);
    HeldFact& one = *without[i];
    one.vector = {embedder.info().name, {begin, begin + static_cast<std::ptrdiff_t>(dimensions)}};
    if (const auto kept = store_.set_vector(one.fact.owner, one.fact.id, one.vector); !kept)
      log::debug("cannot store the vector of a fact", {{"fact", one.fact.id}, {"why", kept.error().what}});
  }
}

Result<OwnSearch> OwnFacts::search(const FactScope& scope, std::string_view query, std::size_t limit,
                                   bool all, Deadline deadline) {
  std::vector<HeldFact> held;
  TRY_VOID(store_.each_fact(scope, [&](Fact&& fact, FactVector&& vector) {
    held.push_back({std::move(fact), std::move(vector)});
  }));
  OwnSearch out;
  if (held.empty()) return out;
  std::string why;
  const FactVector vector = vector_of(query, deadline, why);
  if (!why.empty()) out.notes.push_back("searched by words alone: " + why);
  if (!vector.values.empty())
    if (const auto embedder = embedder_()) fill_in(held, **embedder, deadline);
  const auto by_words = rank_by_words(query, held);
  const auto by_meaning = rank_by_meaning(vector, held);
  for (const SearchedFact& one : fuse(by_words, by_meaning, held, all)) {
    if (out.facts.size() == limit) break;
    out.facts.push_back({std::move(held[one.fact].fact), one.score, one.by_words || one.by_meaning});
  }
  return out;
}

std::shared_ptr<MemoryProvider> make_own_provider(OwnFacts& facts) {
  return std::make_shared<OwnProvider>(facts);
}

}  // namespace plimsoll::memory
