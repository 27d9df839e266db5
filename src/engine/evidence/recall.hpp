// Which memories come into a request (S2, S3, S5).
#pragma once

#include <string>
#include <vector>

#include "memory/gather.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct RequestState;
struct Engine;

// Who is asked, and by which rules.
struct Recall {
  std::vector<memory::AskedProvider> providers;
  memory::FactFilter filter{};
  double base_min_trust = 0.3;  // S2
  bool always = false;          // also where a request does not ask for it
};

// What came of it for one request.
struct Recalled {
  std::vector<memory::GatheredFact> facts;  // as they stand in the request's parts
  std::vector<memory::LeftFact> left;       // found, and left behind before the budget was asked
  std::string why_none;                     // where nobody was asked (S2, S3)
};

bool wants_memories(const Engine& engine, const RequestState& state);

// Puts facts into the request's parts, as far as the pressure allows; the budget has the last word. Whatever
// goes wrong is a warning in the trace. Blocks until the providers have answered, or their time is over.
void recall_memories(const Engine& engine, RequestState& state, const PlanModel& model,
                     std::int64_t compress_above_pct, Deadline deadline);

// Adds to the plan what was left behind, each with its reason.
void list_left_memories(RequestState& state);

// Our own facts in the request, by id.
std::vector<std::string> own_facts(const RequestState& state);

}  // namespace plimsoll::engine
