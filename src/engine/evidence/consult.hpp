// The retrieval step: finds passages for a request (K1 to K3, S10).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chat/chat_request.hpp"
#include "library/open_indexes.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct ConsultRules {
  // Squared distance above which a passage is dropped, as in RAGEngine; 0 drops none. None: stretches that
  // are not relevant enough are dropped (docs/search.md), whatever the budget.
  std::optional<double> similarity_threshold;
  Tokens node_approximation = 500;  // K3: assumed cost of a candidate
  // Most tokens of passages if the request gives neither a budget nor a ratio.
  Tokens passages = 2'000;
  Tokens embedded_passages = 500;     // the same for the embedded model, which reads slowly
  bool pastes = true;                 // STUFF by rule may go beyond `passages`; if asked for, it always may
  bool fills = false;                 // the request gives a budget or a ratio, which is filled
  std::optional<PassageOrder> order;  // none: from the request, else document order
  bool keeps_best = false;            // if nothing is near enough, keep the nearest
  // Most passages; a whole document counts as one.
  std::optional<std::size_t> most_passages;
};

// Results of the search for one request, independent of the model.
struct Findings {
  std::shared_ptr<const library::LoadedIndex> index;
  Evidence evidence;              // what is near enough; if nothing is, what ConsultRules::keeps_best keeps
  bool is_near = true;            // false: nothing in the index is near the question
  std::vector<TraceLeftOut> far;  // documents that are not near enough, best first
  std::vector<std::string> notes;
};

// K2 and K3. `rewritten`: the question as a model wrote it again, or empty. bad_input: there is no question;
// not_found: no such index.
Result<Findings> find_in_documents(library::OpenIndexes& open_indexes, std::string_view owner,
                                   const chat::ChatRequest& parts, std::string_view rewritten, Tokens room,
                                   const ConsultRules& rules, Deadline deadline);

// Returns how many tokens passages may take of those that are left for them.
Tokens most_for_passages(const ConsultRules& rules, Tokens budget);

struct FoundPassage;
// Returns the documents that were found and have no passage among those that are sent, best first.
// `reasons`: why, of those that were looked at. `budget`: of passages.
std::vector<TraceLeftOut> left_out_of(const Findings& findings, std::span<const std::size_t> sent,
                                      std::span<const FoundPassage> passages,
                                      std::span<const LeftOutDocument> reasons, Tokens budget);

// One passage and its source.
struct FoundPassage {
  SelectedPassage passage;
  double distance = 0;  // squared, between unit vectors
  Metadata metadata;    // of its document
};

struct Reading {
  StrategyDecision strategy;
  std::vector<FoundPassage> passages;       // in their order in the request
  bool is_whole = false;                    // only whole documents, in the index's order
  bool is_all = false;                      // all documents, for a task such as "summarize this"
  std::vector<LeftOutDocument> left_out{};  // of the documents that passages were selected from
};

// Renders a passage for the prompt with this number and special tokens escaped; `defused` counts them.
render::Passage prompt_passage(const SelectedPassage& passage, std::size_t number, const PlanModel& model,
                               std::size_t& defused);

// The room for passages in a window.
struct PassageRoom {
  Tokens used = 0;            // of the window, without passages
  Tokens budget = 0;          // of passages and the text around them
  std::string instruction{};  // how to use them; part of that text
};

// Selects from the findings for a model: whole documents if they are small enough to be pasted, the best
// document and passages, or passages.
Result<Reading> read_documents(const Findings& findings, const chat::ChatRequest& parts,
                               const PlanModel& model, const PassageRoom& room, const ConsultRules& rules);

}  // namespace plimsoll::engine
