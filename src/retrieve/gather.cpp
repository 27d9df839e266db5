#include "retrieve/gather.hpp"

#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "retrieve/candidates.hpp"
#include "retrieve/links.hpp"
#include "retrieve/question_parts.hpp"

namespace plimsoll::retrieve {
namespace {

constexpr std::size_t most_terms = 64;
// The weight of a follow-up's words that say nothing about its subject: enough to prefer an example of it.
constexpr float of_form = 0.3F;
// How often names are followed: the first hop finds the second document, the second one a third, or a better
// sentence that names the second.
constexpr int hops = 2;

// `cache`: null if these norms are not needed by other queries.
std::shared_ptr<const StretchNorms> norms_of(const Loaded& loaded, ChunkCache* cache, IndexId index,
                                             std::span<const std::size_t> embedders, const Weights& weights) {
  const ChunkId first = loaded.chunks.front()->stored.id;
  if (cache != nullptr)
    if (auto known = cache->norms(index, first, loaded.chunks.size())) return known;
  auto norms = std::make_shared<const StretchNorms>(retrieve::norms_of(loaded.chunks, embedders, weights));
  if (cache != nullptr) cache->keep_norms(index, first, loaded.chunks.size(), norms);
  return norms;
}

Stretch stretch_of(Loaded loaded, std::vector<ScoredSentence> sentences) {
  Stretch out{std::move(loaded.document), {}, std::move(sentences)};
  out.chunks.reserve(loaded.chunks.size());
  for (auto& chunk : loaded.chunks) {
    const StoredChunk* stored = &chunk->stored;
    out.chunks.emplace_back(std::move(chunk), stored);
  }
  return out;
}

// Adds words of the conversation that are not in the query.
Result<void> add_context(const Index& index, const GatherOptions& options, std::vector<QueryTerm>& terms) {
  const std::size_t own = terms.size();
  TRY(auto of_context, index.terms(options.context));
  for (QueryTerm& term : of_context) {
    if (terms.size() == most_terms) break;
    const auto end = terms.begin() + static_cast<std::ptrdiff_t>(own);
    if (std::ranges::find(terms.begin(), end, term.term, &QueryTerm::term) != end) continue;
    term.weight = options.context_weight;
    terms.push_back(std::move(term));
  }
  return {};
}

// Returns a bit for each term that says what the query is about. `own`: how many are of the query itself. A
// query that depends on nothing is about all of its words, and so is a single word, unless it belongs to a
// conversation.
std::uint64_t subjects_among(const std::vector<QueryTerm>& terms, std::size_t own, std::string_view query) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const float dependence = dependence_of(query);
  const bool is_keyword = own == terms.size() && base::trim(query).find(' ') == std::string_view::npos;
  if (terms.empty() || dependence == 0 || is_keyword) return all;
  std::uint64_t subjects = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const bool is_asked_for = dependence < 1 && own == 1 && t == 0;  // "What is a list?"
    if (is_asked_for || names_subject(terms[t].word.empty() ? terms[t].term : terms[t].word))
      subjects |= std::uint64_t{1} << t;
  }
  return subjects;
}

// Returns the links with the keys of their documents, for display.
Result<std::vector<EvidenceLink>> named_links(ChunkCache& cache, IndexId index, std::span<const Link> links) {
  std::vector<DocumentId> ids;
  for (const Link& link : links)
    if (link.from != 0) ids.push_back(link.from);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  TRY(const auto heads, cache.heads(index, ids));
  std::vector<EvidenceLink> out;
  for (const Link& link : links) {
    EvidenceLink named{link.name, "", link.weight};
    const auto head = std::ranges::lower_bound(heads, link.from, {}, [](const auto& h) { return h->id; });
    if (head != heads.end() && (*head)->id == link.from) named.from = (*head)->key;
    out.push_back(std::move(named));
  }
  return out;
}

// The chunks that are considered, prepared for scoring.
struct Considered {
  std::vector<Loaded> loaded;
  std::vector<StretchInput> inputs;           // refer to `loaded`
  std::vector<std::int64_t> document_chunks;  // by stretch
};

// One view of the query and what was found for it.
struct Look {
  QueryInput input;
  std::vector<Link> links;
  SentenceScores scores;
};

// Searches for all views at once: each has its own scores of the same chunks.
class Gatherer {
 public:
  Gatherer(ChunkCache& cache, const IndexInfo& info, const Index& index, std::string_view query,
           std::vector<std::size_t> embedders, const GatherOptions& options,
           const std::vector<DocumentId>* only)
      : cache_(cache),
        info_(info),
        index_(index),
        query_(query),
        embedders_(std::move(embedders)),
        options_(options),
        only_(only) {}

  Result<void> read_terms() {
    TRY(terms_, index_.terms(query_));
    if (terms_.size() > most_terms) terms_.resize(most_terms);
    const std::size_t own = terms_.size();
    if (options_.context_weight > 0) TRY_VOID(add_context(index_, options_, terms_));
    subjects_ = subjects_among(terms_, own, query_);
    for (std::size_t t = 0; t < terms_.size() && options_.context_weight > 0; ++t)
      if ((subjects_ >> t & 1U) == 0) terms_[t].weight *= of_form;
    return {};
  }

  const std::vector<QueryTerm>& terms() const { return terms_; }

  // Adds what the indexes find for a view. `is_only`: the view is the query.
  Result<void> look(const QueryView& view, bool is_only, Evidence& out) {
    Look look;
    look.input.terms = terms_;
    look.input.index_chunks = index_.size();
    look.input.average_words = index_.average_words();
    look.input.dependence = options_.context_weight > 0 ? dependence_of(query_) : 0;
    look.input.subjects = subjects_;
    if (!is_only) TRY_VOID(weigh(view, look.input.terms));
    TRY(auto lexical, index_.lexical(view.text, options_.candidates, only_));
    candidates_.add(lexical);
    if (out.lexical.empty()) out.lexical = std::move(lexical);
    if (options_.context_weight > 0) {
      TRY(const auto in_context,
          index_.lexical(options_.context + " " + view.text, options_.candidates, only_));
      candidates_.add(in_context);
    }
    look.input.embedders = embedders_;
    for (const std::size_t e : embedders_) {
      look.input.vectors.emplace_back(view.vectors[e]);
      look.input.scales.push_back(cosine_scale_of(info_.settings.embedders[e].name));
      TRY(auto nearest, index_.nearest(e, view.vectors[e], options_.candidates, only_));
      candidates_.add(nearest);
      if (out.nearest.empty()) out.nearest = std::move(nearest);
    }
    looks_.push_back(std::move(look));
    if (options_.links) {
      TRY(auto links, links_of_question(index_, view.text));
      follow(looks_.back(), std::move(links));
    }
    return {};
  }

  Result<void> score_and_follow() {
    candidates_.put_in_order();
    TRY_VOID(score());
    for (int hop = 0; options_.links && hop < hops; ++hop) {
      const std::size_t before = candidates_.all.size();
      for (Look& look : looks_) {
        // The scores with the links so far show what to follow next.
        SentenceScores linked = look.scores;
        add_links(look.links, look.input.terms, considered_.inputs, considered_.document_chunks, linked);
        TRY(auto links, links_of_sentences(index_, query_, considered_.inputs, linked));
        follow(look, std::move(links));
      }
      candidates_.put_in_order();
      if (candidates_.all.size() == before) break;
      // All are scored again, because scores are relative to all candidates.
      TRY_VOID(score());
    }
    for (Look& look : looks_)
      add_links(look.links, look.input.terms, considered_.inputs, considered_.document_chunks, look.scores);
    return {};
  }

  Result<void> finish(Evidence& out) {
    out.candidates = candidates_.all.size();
    out.parts = static_cast<std::uint32_t>(looks_.size());
    for (const Look& look : looks_) {
      TRY(auto named, named_links(cache_, info_.id, look.links));
      std::ranges::move(named, std::back_inserter(out.links));
    }
    SentenceScores scores = combined();
    out.stretches.reserve(considered_.loaded.size());
    for (std::size_t s = 0; s < considered_.loaded.size(); ++s)
      out.stretches.push_back(stretch_of(std::move(considered_.loaded[s]), std::move(scores[s])));
    return {};
  }

 private:
  // Words of other parts count less.
  Result<void> weigh(const QueryView& view, std::vector<QueryTerm>& terms) const {
    TRY(const std::vector<QueryTerm> own, index_.terms(view.text));
    for (QueryTerm& term : terms)
      if (term.weight >= 1 && std::ranges::find(own, term.term, &QueryTerm::term) == own.end())
        term.weight = view.rest;
    return {};
  }

  void follow(Look& look, std::vector<Link> found) {
    for (Link& link : found) {
      if (only_ != nullptr && !std::ranges::binary_search(*only_, link.document)) continue;
      candidates_.all.push_back({link.document, link.chunk});
      look.links.push_back(std::move(link));
    }
  }

  Result<void> score() {
    Considered next;
    TRY(next.loaded, load_candidates(cache_, info_.id, candidates_, options_.neighbours));
    const bool as_ever =
        embedders_.size() == info_.settings.embedders.size() && options_.weights == Weights{};
    for (const Loaded& each : next.loaded) {
      next.inputs.push_back(
          {each.chunks, norms_of(each, as_ever ? &cache_ : nullptr, info_.id, embedders_, options_.weights)});
      next.document_chunks.push_back(each.document->chunks);
    }
    considered_ = std::move(next);
    for (Look& look : looks_) look.scores = score_sentences(look.input, considered_.inputs, options_.weights);
    return {};
  }

  // Returns for each sentence the best of its scores, relative to the best of the view.
  SentenceScores combined() {
    SentenceScores out = std::move(looks_.front().scores);
    if (looks_.size() == 1) return out;
    std::vector<float> best;
    const auto best_of = [](const SentenceScores& scores) {
      float most = 0;
      for (const auto& sentences : scores)
        for (const ScoredSentence& sentence : sentences) most = std::max(most, sentence.score);
      return most;
    };
    best.push_back(best_of(out));
    for (std::size_t v = 1; v < looks_.size(); ++v) best.push_back(best_of(looks_[v].scores));
    const float highest = *std::ranges::max_element(best);
    if (best[0] > 0)
      for (auto& sentences : out)
        for (ScoredSentence& sentence : sentences) sentence.score *= highest / best[0];
    auto first_link = static_cast<std::uint32_t>(looks_[0].links.size());
    for (std::uint32_t v = 1; v < looks_.size(); ++v) {
      const float scale = best[v] > 0 ? highest / best[v] : 0;
      for (std::size_t s = 0; s < out.size(); ++s) {
        for (std::size_t i = 0; i < out[s].size(); ++i) {
          ScoredSentence& kept = out[s][i];
          ScoredSentence& other = looks_[v].scores[s][i];
          const float relevance = std::max(kept.relevance, other.relevance);
          const float meaning = std::max(kept.meaning, other.meaning);
          if (other.score * scale > kept.score) {
            kept = other;
            kept.score *= scale;
            kept.part = v;
            if (kept.link != no_link) kept.link += first_link;
          }
          kept.relevance = relevance;
          kept.meaning = meaning;
        }
      }
      first_link += static_cast<std::uint32_t>(looks_[v].links.size());
    }
    return out;
  }

  ChunkCache& cache_;
  const IndexInfo& info_;
  const Index& index_;
  std::string_view query_;
  std::vector<std::size_t> embedders_;  // compared in all views, by position in the index
  const GatherOptions& options_;
  const std::vector<DocumentId>* only_;
  std::vector<QueryTerm> terms_;  // of the whole query, so that bit masks of words mean the same in all views
  std::uint64_t subjects_ = 0;    // among them
  Candidates candidates_;
  std::vector<Look> looks_;
  Considered considered_;
};

// Returns the embedders that can be compared: those that every view has a vector of. With some views only,
// the scores of the views would not be comparable.
std::vector<std::size_t> comparable(const IndexInfo& info, std::span<const QueryView> views,
                                    std::vector<std::string>& notes) {
  std::vector<std::size_t> embedders;
  for (std::size_t e = 0; e < info.settings.embedders.size(); ++e) {
    const EmbedderInfo& embedder = info.settings.embedders[e];
    const auto fits = [&](const QueryView& view) {
      return e < view.vectors.size() && view.vectors[e].size() == embedder.dimensions;
    };
    if (std::ranges::all_of(views, fits)) {
      embedders.push_back(e);
      continue;
    }
    for (const QueryView& view : views)
      if (!fits(view) && e < view.vectors.size() && !view.vectors[e].empty()) {
        notes.push_back(fmt::format(
            "searched by words alone: '{}' gave {} numbers for the question, and the index has {}",
            embedder.name, view.vectors[e].size(), embedder.dimensions));
        break;
      }
  }
  return embedders;
}

}  // namespace

Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const QueryView> views,
                        const GatherOptions& options) {
  Evidence out;
  std::vector<DocumentId> allowed;
  if (!options.filter.empty()) {
    TRY(allowed, store.matching(info.id, options.filter));
    if (allowed.empty()) return out;
  }
  std::vector<std::size_t> embedders = comparable(info, views, out.notes);
  out.by_meaning = !embedders.empty();
  Gatherer gatherer(cache, info, index, query, std::move(embedders), options,
                    options.filter.empty() ? nullptr : &allowed);
  TRY_VOID(gatherer.read_terms());
  for (const QueryView& view : views) TRY_VOID(gatherer.look(view, views.size() == 1, out));
  for (const QueryTerm& term : gatherer.terms())
    out.words.push_back(term.word.empty() ? term.term : term.word);
  TRY_VOID(gatherer.score_and_follow());
  TRY_VOID(gatherer.finish(out));
  return out;
}

Result<Evidence> gather(Store& store, ChunkCache& cache, const IndexInfo& info, const Index& index,
                        std::string_view query, std::span<const std::vector<float>> query_vectors,
                        const GatherOptions& options) {
  const QueryView whole{std::string(query), {query_vectors.begin(), query_vectors.end()}, 0};
  return gather(store, cache, info, index, query, std::span(&whole, 1), options);
}

}  // namespace plimsoll::retrieve
