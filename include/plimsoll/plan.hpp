// A plan: who gets how much of the window, what goes along and why, for one request and one model.
//
//   CatalogueModels models(catalogue, library);
//   auto plan = plan_request(body, "llama3.2:3b", {}, models);
//   plan->fits;  plan->answer;  plan->request;  // the body to send
//
// No clock and no network: the windows come from whoever implements PlanModels.
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

// All that a plan needs to know of a model.
struct PlanModel {
  std::string name;
  Window window;
  Tokens max_output = 0;  // what its server allows, and lowers max_tokens to; 0: not known
  // What the model gives elsewhere, by the catalogue: the longest answer where nobody asks for a length.
  Tokens usual_output = 0;
  Tokenizer tokenizer;
  ChatOptions chat;
  Exactness exactness = Exactness::exact;  // of the tokenizer
  std::string why;                         // where it is not exact
  budget::Drift drift;
};

class PlanModels {
 public:
  virtual ~PlanModels() = default;
  virtual Result<PlanModel> open(std::string_view model) const = 0;
  // Of a model that may answer in another's place: the name that a server lists it under, or none; then its
  // window by that name, and the model. An override of the asked model's window does not apply to it.
  virtual std::optional<std::string> served_as(std::string_view model) const { return std::string(model); }
  virtual std::optional<Tokens> window_of(std::string_view model) const = 0;
  virtual Result<PlanModel> open_fallback(std::string_view model) const { return open(model); }
  virtual bool same(std::string_view a, std::string_view b) const = 0;  // two names of one model
};

// What the catalogue knows. A model that it does not know is counted with o200k_base, as an estimate, in a
// window of `default_window`. Both references outlive it.
class CatalogueModels : public PlanModels {
 public:
  CatalogueModels(const ModelCatalogue& catalogue, const TokenizerLibrary& library,
                  Tokens default_window = 4096)
      : catalogue_(catalogue), library_(library), default_window_(default_window) {}

  // The window of one model, by exactly this name, above what the catalogue has: what its server said, or
  // what the user set.
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
  std::optional<Tokens> max_tokens;  // above what the request says
  std::optional<Policy> policy;      // likewise; neither: balanced
  bool fallback = false;
  std::vector<std::string> fallback_models;
  std::int64_t compress_above_pct = 85;
  std::optional<std::int64_t> max_history_turns;
  std::optional<std::int64_t> most_passages{};
  budget::RetrievalRule retrieval;  // B1; its generation_buffer is the answer where none is asked for
  Tokens prompt_overhead = 150;     // B4
  Tokens kept_free = 0;             // on top of the margin, for what is known to be counted short
  Tokens price_step = 500;          // what more or fewer shadow prices are worked out for; 0: none
  // Only what sending takes: no hash, no shadow prices, no least window of a request that fits, and no body
  // of one that may go out as it came.
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
  std::string id;     // "messages[3]", or the id that a passage or fact came with
  Tokens tokens = 0;  // with the format's own around it
  Fate fate = Fate::kept;
  std::string reason;
};

// What is sent in the place of the oldest turns (F5).
struct PlannedSummary {
  std::string id;                        // the first digits of the hash of what it replaces
  std::string how;                       // "model", "extractive"
  bool known = false;                    // made for an earlier request
  std::string model;                     // that wrote it
  std::int64_t turns = 0, messages = 0;  // that it replaces
  std::vector<std::string> replaces;     // these: "messages[1]" or, for a row of them, "messages[1-24]"
  Tokens before = 0;                     // that they took
  Tokens after = 0;                      // that it takes, as it is sent
};

struct PlannedPrice {
  Tokens change = 0;
  bool fits = true;
  std::vector<std::string> added;   // pieces that would come
  std::vector<std::string> gone;    // and go
  Tokens answer = 0, thinking = 0;  // by how much they would grow
};

struct Plan {
  std::string model;
  Window window;
  Policy policy = Policy::balanced;
  std::vector<PlannedSection> sections;  // all ten, in order
  std::vector<PlannedPiece> pieces;
  std::optional<PlannedSummary> summary;  // none: no turn was compressed
  // input + thinking + answer + margin + left = window.tokens, and left >= 0, where it fits.
  Tokens input = 0, thinking = 0, answer = 0, margin = 0, left = 0;
  bool fits = false;
  Tokens least = 0;  // the least window that this request could live with
  Exactness exactness = Exactness::exact;
  std::string why;  // what the exactness rests on
  double pressure = 0;
  StrategyDecision strategy;
  FallbackDecision fallback;
  std::int64_t message_count = 0, memory_count = 0;  // that go along
  std::optional<Tokens> requested_answer;
  std::optional<Tokens> context_limit;  // the most that passages may have, by B1, B4 or plimsoll.budget
  std::vector<PlannedPrice> prices;
  std::vector<std::string> warnings;
  std::string format;      // of the chat: ChatCount::template_used
  bool untouched = false;  // nothing is left out, added or lowered: the request may go out as it came
  std::string request;     // the body to send, with the plan's model and limits; empty where it does not fit
  std::string hash;        // SHA-256 of what went in; the same inputs give the same
};

// `request`: the body of an OpenAI chat completion. Its field `plimsoll` may hold `policy`, `thinking`
// (tokens), `passages` [{id, text, score}] and `memories` [{id, text, importance}]; docs/budget.md has them
// all. bad_input for a malformed request. One that does not fit is a plan with fits = false.
Result<Plan> plan_request(std::string_view request, std::string_view model, const PlanOptions& options,
                          const PlanModels& models);

// The plan as JSON, schema 1: for people, or on one line.
std::string plan_json(const Plan& plan);
std::string plan_json_line(const Plan& plan);

}  // namespace plimsoll
