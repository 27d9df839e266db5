// The retrieving step: what documents have to say to a request (K1 to K3, S10).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/plan/parts.hpp"
#include "library/open_indexes.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct ConsultRules {
  // Squared distance beyond which a passage is dropped, as RAGEngine defines it; 0 drops none. Not set: what
  // is not relevant enough is dropped (docs/search.md).
  std::optional<double> similarity_threshold;
  Tokens node_approximation = 500;  // K3: what a candidate is taken to cost
  // Most tokens of passages where the request names neither a budget nor a share.
  Tokens passages = 2'000;
  Tokens embedded_passages = 500;     // likewise for the embedded model, which reads slowly
  bool pastes = true;                 // STUFF may go beyond `passages`
  bool fills = false;                 // the request names a budget or a share, and gets it filled
  std::optional<PassageOrder> order;  // none: by the request, else the documents' own
  bool keeps_best = false;            // where nothing is near enough, what is nearest
  // So many at most, and then no document is pasted whole.
  std::optional<std::size_t> most_passages;
};

// K1: why a request does not go through documents although it names an index; empty: it does.
std::string why_not_documents(const nlohmann::ordered_json& body);

// What was found for one request; the model has no part in it.
struct Findings {
  std::shared_ptr<const library::LoadedIndex> index;
  Evidence evidence;    // what is near enough; where nothing is, what ConsultRules::keeps_best leaves
  bool is_near = true;  // false: nothing in the index is near the question
  std::size_t candidates = 0;
  std::vector<std::string> notes;
};

// K2 and K3. bad_input where nobody asked anything; not_found where there is no such index.
Result<Findings> find_in_documents(library::OpenIndexes& open_indexes, std::string_view owner,
                                   const RequestParts& parts, Tokens room, const ConsultRules& rules,
                                   Deadline deadline);

// One passage with where it came from.
struct FoundPassage {
  SelectedPassage passage;
  double distance = 0;  // squared, between unit vectors
  Metadata metadata;    // of its document
};

struct Reading {
  StrategyDecision strategy;
  std::vector<FoundPassage> passages;  // as they go into the request
  bool is_whole = false;               // whole documents alone, in the index's order
  bool is_all = false;                 // and all of them, for a task on the content as such: "summarize this"
};

// A passage as it stands in the prompt under this number, its special tokens defused; `defused` counts them.
render::Passage prompt_passage(const SelectedPassage& passage, std::size_t number, const PlanModel& model,
                               std::size_t& defused);

// What of the findings goes to a model that has `budget` tokens for them, all that stands around them
// included: whole documents where they are small enough to be pasted, the best document and passages, or
// passages.
Result<Reading> read_documents(const Findings& findings, const RequestParts& parts, const PlanModel& model,
                               Tokens used, Tokens budget, const ConsultRules& rules);

}  // namespace plimsoll::engine
