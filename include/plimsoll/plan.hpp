// A plan: how one request divides the window of one model, what is sent and why.
//
//   CatalogueModels models(catalogue, library);
//   auto plan = plan_request(body, "llama3.2:3b", {}, models);
//   plan->fits;  plan->answer;  plan->request;  // the body to send
//
// Uses no clock and no network; windows come from the implementation of PlanModels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/budget.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/fallback.hpp"
#include "plimsoll/models.hpp"
#include "plimsoll/strategy.hpp"
#include "plimsoll/tokenizers.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll {

// Properties of a model that a plan needs.
struct PlanModel {
  std::string name;
  Window window;
  Tokens max_output = 0;  // the server's limit for max_tokens; 0: not known
  // Longest answer by the catalogue, used if the request gives no length.
  Tokens usual_output = 0;
  Tokenizer tokenizer;
  ChatOptions chat;
  Exactness exactness = Exactness::exact;  // of the tokenizer
  std::string why;                         // reason, if it is not exact
  budget::Drift drift;
  std::optional<Prices> prices{};  // of this model on its server; none: not known
  bool any_server = false;         // its server may be anyone's: a name of OpenAI's may be a model of its own
};

class PlanModels {
 public:
  virtual ~PlanModels() = default;
  virtual Result<PlanModel> open(std::string_view model) const = 0;
  // For fallback models: the name under which a server lists the model, or none; then its window by that
  // name, and the model. An override of the requested model's window does not apply to it.
  virtual std::optional<std::string> served_as(std::string_view model) const { return std::string(model); }
  virtual std::optional<Tokens> window_of(std::string_view model) const = 0;
  virtual Result<PlanModel> open_fallback(std::string_view model) const { return open(model); }
  virtual bool same(std::string_view a,
                    std::string_view b) const = 0;  // whether two names mean the same model
};

// Models from the catalogue. An unknown model is counted with o200k_base, as an estimate, with a
// window of `default_window`. Both references must outlive it.
class CatalogueModels : public PlanModels {
 public:
  CatalogueModels(const ModelCatalogue& catalogue, const TokenizerLibrary& library,
                  Tokens default_window = 4096)
      : catalogue_(catalogue), library_(library), default_window_(default_window) {}

  // Overrides the catalogue's window for exactly this name, with the value from its server or from
  // the user.
  void set_window(std::string model, Window window);

  Result<PlanModel> open(std::string_view model) const override;
  std::optional<Tokens> window_of(std::string_view model) const override;
  bool same(std::string_view a, std::string_view b) const override;

 private:
  Result<PlanModel> open_unknown(std::string_view model) const;
  Result<PlanModel> open_known(std::string_view model, const ModelMatch& match) const;

  const ModelCatalogue& catalogue_;
  const TokenizerLibrary& library_;
  Tokens default_window_;
  std::map<std::string, Window, std::less<>> windows_;
};

struct PlanOptions {
  std::optional<Tokens> max_tokens;  // overrides the request
  std::optional<Policy> policy;      // overrides the request; neither: balanced
  bool fallback = false;
  std::vector<std::string> fallback_models;
  std::int64_t compress_above_pct = 85;
  std::optional<std::int64_t> max_history_turns;
  std::optional<std::int64_t> most_passages{};
  budget::RetrievalRule retrieval;  // B1; its generation_buffer is the answer's length if none is requested
  Tokens prompt_overhead = 150;     // B4
  Tokens kept_free = 0;             // added to the margin if the count is known to be too low
  Tokens price_step = 500;          // change of the window for shadow prices; 0: none
  // Only what is needed to send: no hash, no shadow prices, no least window if the request fits, and no body
  // if it can be sent unchanged.
  bool brief = false;
};

struct PlannedSection {
  Section section;
  Tokens grant = 0;
  Tokens used = 0;
  Exactness exactness = Exactness::exact;
};

struct PlannedPiece {
  SectionKind section = SectionKind::history;
  std::string id;     // "messages[3]", or the id of a passage, fact or older turn
  Tokens tokens = 0;  // with the template's tokens around it
  Fate fate = Fate::kept;
  std::string reason;
  std::optional<std::size_t> message{};  // its place in the request, if it is one of its messages
  bool is_recalled = false;              // an older turn that was found for the question
};

// The summary that replaces the oldest turns (F5).
struct PlannedSummary {
  std::string id;                        // first digits of the hash of the replaced turns
  std::string how;                       // "model", "extractive"
  bool known = false;                    // made for an earlier request
  std::string model;                     // that wrote it
  std::int64_t turns = 0, messages = 0;  // that it replaces
  std::vector<std::string> replaces;     // "messages[1]" or, for a range, "messages[1-24]"
  Tokens before = 0;                     // tokens of the replaced messages
  Tokens after = 0;                      // tokens of the summary as sent
};

struct PlannedPrice {
  Tokens change = 0;
  bool fits = true;
  std::vector<std::string> added;   // pieces that would go in
  std::vector<std::string> gone;    // pieces that would be left out
  Tokens answer = 0, thinking = 0;  // by how much they would grow
};

struct Plan {
  std::string model;
  Window window;
  Policy policy = Policy::balanced;
  std::vector<PlannedSection> sections;  // all ten, in order
  std::vector<PlannedPiece> pieces;
  std::optional<PlannedSummary> summary;  // none: nothing was compressed
  // input + thinking + answer + margin + left = window.tokens, and left >= 0 if it fits.
  Tokens input = 0, thinking = 0, answer = 0, margin = 0, left = 0;
  bool fits = false;
  Tokens least = 0;  // the smallest window for this request
  Exactness exactness = Exactness::exact;
  std::string why;  // reason for the exactness
  double pressure = 0;
  StrategyDecision strategy;
  FallbackDecision fallback;
  std::int64_t message_count = 0, memory_count = 0;  // that are sent
  std::optional<Tokens> requested_answer;
  std::optional<Tokens> context_limit;  // the most that passages may have, by B1, B4 or plimsoll.budget
  std::vector<PlannedPrice> prices;
  std::vector<std::string> warnings;
  std::string format;      // of the chat: ChatCount::template_used
  bool untouched = false;  // nothing is left out, added or lowered: the request can be sent unchanged
  std::string request;     // the body to send, with the plan's model and limits; empty if it does not fit
  std::string hash;        // SHA-256 of all inputs; equal inputs give equal hashes
};

// `request`: the body of an OpenAI chat completion. Its field `plimsoll` may have `policy`, `thinking`
// (tokens), `passages` [{id, text, score}] and `memories` [{id, text, importance}]; docs/budget.md lists all
// fields. bad_input: a malformed request. A request that does not fit gives a plan with fits = false.
Result<Plan> plan_request(std::string_view request, std::string_view model, const PlanOptions& options,
                          const PlanModels& models);

// Returns the plan as JSON, schema 1: indented, or on one line.
std::string plan_json(const Plan& plan);
std::string plan_json_line(const Plan& plan);

}  // namespace plimsoll
