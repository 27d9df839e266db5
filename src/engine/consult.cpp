#include "engine/consult.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>

#include "base/try.hpp"
#include "count/chat_request.hpp"
#include "render/passages.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

double distance_of(float cosine) {
  return std::max(0.0, 2.0 - 2.0 * static_cast<double>(cosine));
}

bool is_filled_list(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_array() && !found->empty();
}

// A calibrated reading of the threshold: near by meaning, or at least half of the question's own words.
bool near_enough(const ScoredSentence& sentence, const Evidence& evidence, double threshold) {
  const auto has = static_cast<std::size_t>(std::popcount(sentence.words));
  const bool by_words = has > 0 && 2 * has >= evidence.words.size();
  return by_words || (evidence.by_meaning && distance_of(sentence.meaning) <= threshold);
}

float best_in(const Stretch& stretch) {
  float best = 0;
  for (const ScoredSentence& sentence : stretch.sentences) best = std::max(best, sentence.score);
  return best;
}

// A note where that leaves nothing, or one that is far.
std::optional<std::string> drop_far(Evidence& evidence, const ConsultRules& rules, std::string_view index) {
  std::vector<Stretch>& stretches = evidence.stretches;
  if (stretches.empty()) return fmt::format("nothing was found in the index '{}'", index);
  if (rules.similarity_threshold <= 0) return std::nullopt;
  const auto is_near = [&](const Stretch& stretch) {
    return std::ranges::any_of(stretch.sentences, [&](const ScoredSentence& sentence) {
      return near_enough(sentence, evidence, rules.similarity_threshold);
    });
  };
  if (std::ranges::any_of(stretches, is_near)) {
    std::erase_if(stretches, [&](const Stretch& stretch) { return !is_near(stretch); });
    return std::nullopt;
  }
  Stretch best = std::move(*std::ranges::max_element(stretches, {}, best_in));
  stretches.clear();
  if (rules.keeps_best) stretches.push_back(std::move(best));
  return fmt::format("nothing in the index '{}' is near the question{}", index,
                     rules.keeps_best ? "; what is nearest goes along" : ": no passage goes along");
}

// Of the best sentence within a passage; where no vectors were compared, what its score would be as one.
double distance_within(const Evidence& evidence, const SelectedPassage& passage) {
  return distance_of(evidence.by_meaning ? passage.meaning : passage.score);
}

// The documents of the findings, the most promising first.
struct Candidate {
  std::shared_ptr<const DocumentHead> head;
  float score = 0;
  float meaning = -1;
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
    }
  }
  std::ranges::stable_sort(found, std::greater<>(), &Candidate::score);
  return found;
}

Result<FoundPassage> whole_document(const Findings& findings, const Candidate& candidate,
                                    const Tokenizer& tokenizer, const char* reason) {
  TRY(DocumentWithVectors stored, findings.shelf->open.store.document(candidate.head->id));
  FoundPassage whole;
  whole.passage.document = candidate.head->id;
  whole.passage.key = candidate.head->key;
  whole.passage.span = {0, stored.document.text.size()};
  whole.passage.source = whole.passage.span;
  whole.passage.tokens = tokenizer.count(stored.document.text);
  whole.passage.text = std::move(stored.document.text);
  whole.passage.score = candidate.score;
  whole.passage.meaning = candidate.meaning;
  whole.passage.reason = reason;
  whole.distance = distance_within(findings.evidence, whole.passage);
  whole.metadata = candidate.head->metadata;
  return whole;
}

Result<void> add_passages(const Findings& findings, const Evidence& evidence, const Tokenizer& tokenizer,
                          Tokens budget, std::optional<std::size_t> most, std::vector<FoundPassage>& out) {
  SelectOptions options{.budget = budget};
  options.labels = false;  // each stands between marks of its own
  options.most_passages = most;
  options.recount = tokenizer.info().name != findings.shelf->open.info.settings.tokenizer;
  Selection selection = select_passages(evidence, tokenizer, options);
  TRY_VOID(locate(findings.shelf->open, selection));
  std::unordered_map<DocumentId, const DocumentHead*> heads;
  for (const Stretch& stretch : evidence.stretches) heads[stretch.document->id] = stretch.document.get();
  for (SelectedPassage& passage : selection.passages) {
    const double distance = distance_within(evidence, passage);
    const Metadata& metadata = heads.at(passage.document)->metadata;
    out.push_back({std::move(passage), distance, metadata});
  }
  return {};
}

// Whole documents and passages, in no order yet.
Result<Reading> chosen(const Findings& findings, const RequestParts& parts, const PlanModel& model,
                       Tokens used, Tokens budget, const ConsultRules& rules) {
  Reading reading;
  const ContentEstimate content{findings.shelf->tokens, ContentSource::counted, Exactness::calibrated};
  reading.strategy = decide_strategy(classify(parts.query), content, model.window.tokens, used, {});
  if (findings.evidence.stretches.empty()) return reading;
  const Strategy strategy = reading.strategy.strategy;
  if (strategy != Strategy::stuff)
    budget = std::min({budget, reading.strategy.retrieval_budget_tokens, rules.passages});

  if (rules.most_passages) {
    TRY_VOID(add_passages(findings, findings.evidence, model.tokenizer, std::min(budget, rules.passages),
                          rules.most_passages, reading.passages));
    return reading;
  }

  // Whole documents, as far as the strategy and the room go.
  const std::vector<Candidate> documents = documents_of(findings.evidence);
  Tokens all = 0;
  for (const Candidate& candidate : documents) all += candidate.head->tokens;
  const bool paste = strategy == Strategy::stuff && all <= budget;
  std::set<DocumentId> whole;
  if (paste || (strategy == Strategy::hybrid && documents.front().head->tokens <= budget / 2)) {
    for (const Candidate& candidate : documents) {
      TRY(FoundPassage found, whole_document(findings, candidate, model.tokenizer,
                                             paste ? "pasted whole" : "the best document, whole"));
      budget -= found.passage.tokens;
      whole.insert(candidate.head->id);
      reading.passages.push_back(std::move(found));
      if (!paste) break;
    }
  }
  if (paste || budget <= 0) return reading;
  if (whole.empty()) {
    TRY_VOID(add_passages(findings, findings.evidence, model.tokenizer, budget, {}, reading.passages));
    return reading;
  }
  Evidence rest = findings.evidence;
  std::erase_if(rest.stretches, [&](const Stretch& stretch) { return whole.contains(stretch.document->id); });
  TRY_VOID(add_passages(findings, rest, model.tokenizer, budget, {}, reading.passages));
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

}  // namespace

std::string why_not_documents(const Json& body) {
  for (const char* key : {"tools", "functions"})
    if (is_filled_list(body, key)) return fmt::format("the request has {}", key);
  for (const Json& message : body["messages"]) {
    const std::string& role = message["role"].get_ref<const std::string&>();
    if (role != "system" && role != "developer" && role != "user" && role != "assistant")
      return fmt::format("a message has the role '{}'", role);
    const auto content = message.find("content");
    if (role != "user" || content == message.end() || !content->is_array()) continue;
    for (const Json& part : *content)
      if (const auto type = part.find("type"); type == part.end() || *type != "text")
        return "a user's message is not text alone";
  }
  return {};
}

Result<Findings> find_in_documents(Shelf& shelf, std::string_view owner, const RequestParts& parts,
                                   Tokens room, const ConsultRules& rules, Deadline deadline) {
  Findings findings;
  TRY(findings.shelf, shelf.take(owner, parts.wishes.index));
  const auto& last = parts.body["messages"].back()["role"];
  if (parts.query.empty() || last == "assistant")
    return fail(Errc::bad_input, "There must be a user prompt since the latest assistant message.");
  retrieve::GatherOptions options;
  // K3 where the request names a share or a budget; else as many as searching for so much takes.
  const bool bounded = rules.passages < budget::most_tokens;
  constexpr Tokens least_candidates = 100, most_candidates = 1'000;
  options.candidates =
      bounded ? retrieve::candidates_for(rules.passages, findings.shelf->open.info.settings.chunk_tokens)
              : static_cast<std::size_t>(std::clamp(room / std::max<Tokens>(1, rules.node_approximation),
                                                    least_candidates, most_candidates));
  TRY(findings.evidence, find_evidence(findings.shelf->open, parts.query, options, deadline));
  findings.candidates = findings.evidence.candidates;
  findings.notes = findings.shelf->notes;
  findings.notes.insert(findings.notes.end(), findings.evidence.notes.begin(), findings.evidence.notes.end());
  if (auto note = drop_far(findings.evidence, rules, parts.wishes.index))
    findings.notes.push_back(*std::move(note));
  return findings;
}

Result<Reading> read_documents(const Findings& findings, const RequestParts& parts, const PlanModel& model,
                               Tokens used, Tokens budget, const ConsultRules& rules) {
  TRY(Reading reading, chosen(findings, parts, model, used, budget, rules));
  put_in_order(reading.passages, rules.order.value_or(PassageOrder::document));
  return reading;
}

}  // namespace plimsoll::engine
