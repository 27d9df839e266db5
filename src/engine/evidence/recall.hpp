// Chooses the memories for a request (S2, S3, S5).
#pragma once

#include <string>
#include <vector>

#include "memory/gather.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct RequestState;
struct Engine;

// Memory providers and rules.
struct Recall {
  std::vector<memory::AskedProvider> providers;
  memory::FactFilter filter{};
  double base_min_trust = 0.3;  // S2
  bool always = false;          // even if a request does not ask for it
};

// Memories of one request.
struct Recalled {
  std::vector<memory::GatheredFact> facts;  // in the order of the request's parts
  std::vector<memory::LeftFact> left;       // found, but dropped before budgeting
  std::string why_none;                     // reason, if no provider was asked (S2, S3)
};

bool wants_memories(const Engine& engine, const RequestState& state);

// Adds facts to the request's parts as far as the pressure allows; the budget decides later. Failures become
// warnings in the trace. Blocks until the providers have answered or timed out.
void recall_memories(const Engine& engine, RequestState& state, const PlanModel& model,
                     std::int64_t compress_above_pct, Deadline deadline);

// Adds the dropped facts to the plan, with reasons.
void list_left_memories(RequestState& state);

// Returns the ids of our own facts in the request.
std::vector<std::string> own_facts(const RequestState& state);

}  // namespace plimsoll::engine
