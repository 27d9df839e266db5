#include "engine/evidence/consult.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/evidence/follow_up.hpp"
#include "engine/evidence/harmless.hpp"
#include "render/passages.hpp"
#include "strategy/whole.hpp"

namespace plimsoll::engine {
namespace {

double distance_of(float cosine) {
  return std::max(0.0, 2.0 - 2.0 * static_cast<double>(cosine));
}

float best_relevance(const Stretch& stretch) {
  float best = 0;
  for (const ScoredSentence& sentence : stretch.sentences) best = std::max(best, sentence.relevance);
  return best;
}

// A question that names nothing has no relevance anywhere, and then the score decides.
std::pair<float, float> nearness(const Stretch& stretch) {
  float score = 0;
  for (const ScoredSentence& sentence : stretch.sentences) score = std::max(score, sentence.score);
  return {best_relevance(stretch), score};
}

// Applies RAGEngine's threshold: keeps a sentence if it or a neighbour is within the distance.
void apply_threshold(Evidence& evidence, double threshold) {
  const auto is_near = [&](const ScoredSentence& sentence) {
    return distance_of(evidence.by_meaning ? sentence.meaning : sentence.score) <= threshold;
  };
  for (Stretch& stretch : evidence.stretches) {
    std::vector<bool> near;
    for (const ScoredSentence& sentence : stretch.sentences) near.push_back(is_near(sentence));
    for (std::size_t i = 0; i < near.size(); ++i) {
      const bool beside = (i > 0 && near[i - 1]) || (i + 1 < near.size() && near[i + 1]);
      stretch.sentences[i].relevance = near[i] || beside ? 1 : 0;
    }
  }
}

// Drops stretches with nothing near the question. Returns false if nothing is near; then only the nearest
// stretch is left, or none.
bool drop_far(Evidence& evidence, const ConsultRules& rules) {
  std::vector<Stretch>& stretches = evidence.stretches;
  if (stretches.empty()) return false;
  if (rules.similarity_threshold == 0) return true;
  if (rules.similarity_threshold) apply_threshold(evidence, *rules.similarity_threshold);
  const float least = rules.similarity_threshold ? 1 : retrieve::Cutoff{}.best;
  const auto best = std::ranges::max_element(stretches, {}, nearness);
  if (best_relevance(*best) >= least) {
    std::erase_if(stretches, [&](const Stretch& stretch) { return best_relevance(stretch) < least; });
    return true;
  }
  Stretch nearest = std::move(*best);
  stretches.clear();
  if (rules.keeps_best) stretches.push_back(std::move(nearest));
  return false;
}

// A document of the findings, best first.
struct Candidate {
  std::shared_ptr<const DocumentHead> head;
  float score = 0;
  float meaning = -1;
  float relevance = 0;
};
std::vector<Candidate> documents_of(const Evidence& evidence) {
  std::vector<Candidate> found;
  std::unordered_map<DocumentId, std::size_t> places;
  for (const Stretch& stretch : evidence.stretches) {
    const auto [place, is_new] = places.try_emplace(stretch.document->id, found.size());
    if (is_new) found.push_back({stretch.document});
    Candidate& candidate = found[place->second];
    for (const ScoredSentence& sentence : stretch.sentences) {
      candidate.score = std::max(candidate.score, sentence.score);
      candidate.meaning = std::max(candidate.meaning, sentence.meaning);
      candidate.relevance = std::max(candidate.relevance, sentence.relevance);
    }
  }
  std::ranges::stable_sort(found, std::greater<>(), &Candidate::score);
  return found;
}

// Returns those of the documents that are not in the evidence any more.
std::vector<TraceLeftOut> far_documents(const std::vector<Candidate>& all, const Evidence& evidence,
                                        const ConsultRules& rules) {
  std::vector<TraceLeftOut> far;
  std::unordered_set<DocumentId> near;
  for (const Stretch& stretch : evidence.stretches) near.insert(stretch.document->id);
  for (const Candidate& one : all) {
    if (near.contains(one.head->id)) continue;
    std::string reason =
        rules.similarity_threshold
            ? fmt::format("farther from the question than the threshold of {}", *rules.similarity_threshold)
            : fmt::format("not near enough (relevance {:.2f}, the least is {:.2f})", one.relevance,
                          retrieve::Cutoff{}.best);
    far.push_back({one.head->key, one.score, one.relevance, std::move(reason)});
  }
  return far;
}

// Sets what is left out even if there is room.
void set_cutoff(const ConsultRules& rules, SelectOptions& options) {
  if (rules.similarity_threshold) {
    options.least_relevance = *rules.similarity_threshold > 0 ? 1 : 0;
  } else if (!rules.fills) {
    retrieve::Cutoff{}.apply(options);
    if (rules.keeps_best) options.least_relevance = 0;
  }
}

// Returns the distance of the best sentence in a passage; without vectors, the distance that its score
// implies.
double distance_within(const Evidence& evidence, const SelectedPassage& passage) {
  return distance_of(evidence.by_meaning ? passage.meaning : passage.score);
}

// Selects for one model and one budget.
class Reader {
 public:
  Reader(const Findings& findings, const PlanModel& model, const ConsultRules& rules)
      : findings_(findings), model_(model), rules_(rules) {}

  // Takes whole documents in the index's order if they fit: all of them, or those with something near the
  // question. False: they do not fit, or are more than `most_passages`.
  Result<bool> take_whole(Tokens budget, bool all) {
    TRY(const auto documents, all ? all_documents(budget) : near_documents());
    Tokens tokens = 0;
    for (const Candidate& candidate : documents) tokens += candidate.head->tokens;
    if (documents.empty() || tokens > budget) return false;
    if (rules_.most_passages && documents.size() > *rules_.most_passages) return false;
    std::vector<FoundPassage> whole;
    tokens = 0;
    for (const Candidate& candidate : documents) {
      TRY(std::optional<FoundPassage> read, whole_document(candidate, "pasted whole"));
      if (!read || is_too_far(*read)) continue;
      FoundPassage& found = *read;
      tokens += cost_of(found, whole.size() + 1);
      if (tokens > budget) return false;
      whole.push_back(std::move(found));
    }
    taken_ = std::move(whole);
    return true;
  }

  // Takes the best document if it needs at most half of the budget.
  Result<void> take_best_document(Tokens& budget) {
    const std::vector<Candidate> documents = documents_of(findings_.evidence);
    if (documents.empty() || documents.front().head->tokens > budget / 2) return {};
    if (rules_.most_passages && *rules_.most_passages < 2) return {};  // it would be the only passage
    TRY(std::optional<FoundPassage> whole, whole_document(documents.front(), "the best document, whole"));
    if (!whole || is_too_far(*whole)) return {};
    const Tokens tokens = cost_of(*whole, 1);
    if (tokens > budget / 2) return {};
    budget -= tokens;
    taken_.push_back(*std::move(whole));
    return {};
  }

  // Takes passages of the documents that are not included whole.
  Result<void> take_passages(Tokens budget) {
    if (taken_.empty()) return add_passages(findings_.evidence, budget);
    Evidence rest = findings_.evidence;
    std::erase_if(rest.stretches, [&](const Stretch& stretch) {
      return std::ranges::any_of(
          taken_, [&](const FoundPassage& found) { return found.passage.document == stretch.document->id; });
    });
    return add_passages(rest, budget);
  }

  std::vector<FoundPassage> taken() && { return std::move(taken_); }
  const std::vector<LeftOutDocument>& left_out() const { return left_out_; }

 private:
  Result<std::vector<Candidate>> near_documents() const {
    std::vector<Candidate> found = documents_of(findings_.evidence);
    std::ranges::sort(found, {}, [](const Candidate& candidate) { return candidate.head->id; });
    return found;
  }

  // Empty if they cannot fit.
  Result<std::vector<Candidate>> all_documents(Tokens budget) const {
    const std::vector<Candidate> near = documents_of(findings_.evidence);
    std::vector<Candidate> found;
    if (findings_.index->tokens > budget) return found;
    constexpr std::size_t most_documents = 10'000;
    const library::OpenIndex& open = findings_.index->open;
    TRY(const auto heads, open.store.documents(open.info.id, {}, 0, most_documents + 1));
    if (heads.size() > most_documents) return found;
    for (const DocumentHead& head : heads) {
      const auto known =
          std::ranges::find(near, head.id, [](const Candidate& candidate) { return candidate.head->id; });
      if (known != near.end())
        found.push_back(*known);
      else
        found.push_back({.head = std::make_shared<const DocumentHead>(head)});
    }
    return found;
  }

  bool is_too_far(const FoundPassage& found) const {
    return rules_.similarity_threshold > 0 && found.distance > *rules_.similarity_threshold;
  }

  Tokens cost_of(const FoundPassage& found, std::size_t number) const {
    std::size_t defused = 0;
    return model_.tokenizer.count(
        render::passage_text(prompt_passage(found.passage, number, model_, defused)));
  }

  // None: the document was removed or replaced since it was found.
  Result<std::optional<FoundPassage>> whole_document(const Candidate& candidate, const char* reason) const {
    auto read = findings_.index->open.store.document(candidate.head->id);
    if (!read && read.error().code == Errc::not_found) return std::nullopt;
    TRY(DocumentWithVectors stored, std::move(read));
    FoundPassage whole;
    whole.passage.document = candidate.head->id;
    whole.passage.key = candidate.head->key;
    whole.passage.span = {0, stored.document.text.size()};
    whole.passage.source = whole.passage.span;
    const Document& document = stored.document;
    whole.passage.path = render::heading_or_title(
        document.sections, render::section_of(document.sections, whole.passage.span), document.metadata);
    if (!document.chunks.empty()) {
      whole.passage.page = document.chunks.front().page;
      whole.passage.last_page = page_at(document.chunks.back(), whole.passage.span.end);
    }
    whole.passage.tokens = model_.tokenizer.count(document.text);
    whole.passage.text = std::move(stored.document.text);
    whole.passage.score = candidate.score;
    whole.passage.meaning = candidate.meaning;
    whole.passage.relevance = candidate.relevance;
    whole.passage.reason = reason;
    whole.distance = distance_within(findings_.evidence, whole.passage);
    whole.metadata = candidate.head->metadata;
    // Lines are those of a file; a text that came over HTTP has none.
    whole.passage.addressable = stored.document.addressable && stored.document.file.path != "";
    Selection one;
    one.passages.push_back(std::move(whole.passage));
    TRY_VOID(library::locate(findings_.index->open, one));
    whole.passage = std::move(one.passages.front());
    return whole;
  }

  Result<void> add_passages(const Evidence& evidence, Tokens budget) {
    SelectOptions options{.budget = budget};
    options.labels = false;  // each passage has its own marks
    set_cutoff(rules_, options);
    if (rules_.most_passages) options.most_passages = *rules_.most_passages - taken_.size();
    options.recount = model_.tokenizer.info().name != findings_.index->open.info.settings.tokenizer;
    options.render = [this](const SelectedPassage& passage, std::size_t number) {
      std::size_t defused = 0;
      return render::passage_text(prompt_passage(passage, number + taken_.size(), model_, defused));
    };
    Selection selection = select_passages(evidence, model_.tokenizer, options);
    TRY_VOID(library::locate(findings_.index->open, selection));
    std::unordered_map<DocumentId, const DocumentHead*> heads;
    for (const Stretch& stretch : evidence.stretches) heads[stretch.document->id] = stretch.document.get();
    for (SelectedPassage& passage : selection.passages) {
      const double distance = distance_within(evidence, passage);
      const Metadata& metadata = heads.at(passage.document)->metadata;
      FoundPassage found{std::move(passage), distance, metadata};
      if (!is_too_far(found)) taken_.push_back(std::move(found));
    }
    left_out_ = std::move(selection.left_out);
    return {};
  }

  const Findings& findings_;
  const PlanModel& model_;
  const ConsultRules& rules_;
  std::vector<FoundPassage> taken_;
  std::vector<LeftOutDocument> left_out_;
};

// Returns whether the task needs whole documents even if nothing in them is near the question, such as
// "summarize this".
bool works_on_content(const Task& task, std::string_view query) {
  return task.type == TaskType::stuff_friendly || task.type == TaskType::hybrid ||
         strategy::asks_for_the_whole(query);
}

// Selects whole documents and passages; not ordered yet.
Result<Reading> chosen(const Findings& findings, const chat::ChatRequest& parts, const PlanModel& model,
                       const PassageRoom& room, const ConsultRules& rules) {
  Reading reading;
  const ContentEstimate content{findings.index->tokens, ContentSource::counted, Exactness::calibrated};
  reading.strategy = decide_strategy(classify(parts.query), content, model.window.tokens, room.used, {});
  const auto& wish = parts.wishes.strategy;
  if (wish) reading.strategy = with_strategy(std::move(reading.strategy), *wish, {});
  const StrategyDecision& decided = reading.strategy;
  const bool stuffs = decided.strategy == Strategy::stuff;
  const bool is_near = !findings.evidence.stretches.empty();
  const bool wants_all = stuffs && (wish || works_on_content(decided.task, parts.query));
  if (!is_near && !(wants_all && !rules.similarity_threshold)) return reading;

  const Tokens budget = room.budget - model.tokenizer.count(render::passages_frame(room.instruction));
  const Tokens most = most_for_passages(rules, budget);
  Reader reader(findings, model, rules);
  // By rule, few documents are taken whole whatever the strategy; who asks for passages, or for a number of
  // them, gets passages.
  if (stuffs || (!wish && !rules.most_passages)) {
    TRY(reading.is_whole, reader.take_whole(stuffs && (rules.pastes || wish) ? budget : most, wants_all));
    reading.is_all = reading.is_whole && wants_all;
  }
  if (!reading.is_whole) {
    Tokens left = most;
    if (decided.strategy == Strategy::hybrid) TRY_VOID(reader.take_best_document(left));
    TRY_VOID(reader.take_passages(left));
  }
  reading.left_out = reader.left_out();
  reading.passages = std::move(reader).taken();
  return reading;
}

void put_in_order(std::vector<FoundPassage>& passages, PassageOrder order) {
  std::vector<const SelectedPassage*> found;
  for (const FoundPassage& one : passages) found.push_back(&one.passage);
  std::vector<FoundPassage> ordered;
  for (const std::size_t place : render::in_order(found, order))
    ordered.push_back(std::move(passages[place]));
  passages = std::move(ordered);
}

// Returns the document's name in the prompt. A whole hash costs more tokens than a sentence and means nothing
// to a model; its first digits are enough to tell documents apart.
std::string_view label_of(std::string_view key) {
  constexpr std::size_t hash_digits = 64, shown_digits = 8;
  const bool hash =
      key.size() == hash_digits && key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hash ? key.substr(0, shown_digits) : key;
}

}  // namespace

render::Passage prompt_passage(const SelectedPassage& passage, std::size_t number, const PlanModel& model,
                               std::size_t& defused) {
  std::string text = passage.lead.empty() ? passage.text : passage.lead + "\n" + passage.text;
  defused += make_harmless(model, text);
  std::string id = fmt::format("{}: {}{}{}", number, label_of(passage.key), passage.path.empty() ? "" : " > ",
                               passage.path);
  defused += make_harmless(model, id);
  return {std::move(id), std::move(text)};
}

Result<Findings> find_in_documents(library::OpenIndexes& open_indexes, std::string_view owner,
                                   const chat::ChatRequest& parts, std::string_view rewritten, Tokens room,
                                   const ConsultRules& rules, Deadline deadline) {
  Findings findings;
  TRY(findings.index, open_indexes.take(owner, parts.wishes.index));
  const auto& last = parts.messages().back()["role"];
  if (parts.query.empty() || last == "assistant")
    return fail(Errc::bad_input, "There must be a user prompt since the latest assistant message.");
  retrieve::GatherOptions options;
  // K3 if the request gives a ratio or a budget; else as many as this budget needs.
  constexpr Tokens least_candidates = 100, most_candidates = 1'000;
  options.candidates =
      rules.fills ? static_cast<std::size_t>(std::clamp(room / std::max<Tokens>(1, rules.node_approximation),
                                                        least_candidates, most_candidates))
                  : retrieve::candidates_for(rules.passages, findings.index->open.info.settings.chunk_tokens);
  FollowUp before = earlier_words(parts, rewritten);
  options.context = std::move(before.context);
  options.context_weight = before.weight;
  // Who asks for RAG and not for RAG+GRAPH gets what the question finds, and nothing that names lead to.
  options.links = parts.wishes.strategy != Strategy::rag;
  TRY(findings.evidence, library::find_evidence(findings.index->open, parts.query, options, deadline));
  findings.notes = findings.index->notes;
  findings.notes.insert(findings.notes.end(), findings.evidence.notes.begin(), findings.evidence.notes.end());
  const std::vector<Candidate> all = documents_of(findings.evidence);
  findings.is_near = drop_far(findings.evidence, rules);
  findings.far = far_documents(all, findings.evidence, rules);
  return findings;
}

Tokens most_for_passages(const ConsultRules& rules, Tokens budget) {
  return rules.fills || rules.most_passages ? budget : std::min(budget, rules.passages);
}

std::vector<TraceLeftOut> left_out_of(const Findings& findings, std::span<const std::size_t> sent,
                                      std::span<const FoundPassage> passages,
                                      std::span<const LeftOutDocument> reasons, Tokens budget) {
  std::vector<TraceLeftOut> out;
  const auto reason_of = [&](const Candidate& one) {
    const auto known = std::ranges::find(reasons, one.head->id, &LeftOutDocument::document);
    if (known != reasons.end()) return known->reason;
    return fmt::format("not among the best for {} tokens (score {:.2f})",
                       base::with_thousands(std::max<Tokens>(0, budget)), one.score);
  };
  for (const Candidate& one : documents_of(findings.evidence)) {
    const bool is_sent = std::ranges::any_of(
        sent, [&](std::size_t place) { return passages[place].passage.document == one.head->id; });
    if (!is_sent) out.push_back({one.head->key, one.score, one.relevance, reason_of(one)});
  }
  out.insert(out.end(), findings.far.begin(), findings.far.end());
  return out;
}

Result<Reading> read_documents(const Findings& findings, const chat::ChatRequest& parts,
                               const PlanModel& model, const PassageRoom& room, const ConsultRules& rules) {
  TRY(Reading reading, chosen(findings, parts, model, room, rules));
  // Whole documents keep the index's order unless another is requested. A client that counts its chunks gets
  // the best first, except for a task on all documents.
  if (rules.order || !reading.is_whole || (rules.most_passages && !reading.is_all))
    put_in_order(reading.passages, rules.order.value_or(PassageOrder::document));
  return reading;
}

}  // namespace plimsoll::engine
