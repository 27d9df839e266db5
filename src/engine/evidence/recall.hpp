// Chooses the memories for a request (S2, S3, S5).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "memory/gather.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct Engine;
struct Received;
struct Request;

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

bool wants_memories(const Engine& engine, const Received& received, const Request& request);

// Adds facts to the request as far as the pressure allows; the budget decides later. Failures become
// warnings. Blocks until the providers have answered or timed out.
Request recall_memories(const Engine& engine, const Received& received, Request request,
                        const PlanModel& model, Deadline deadline);

// Adds the dropped facts to the plan, with reasons.
void list_left_memories(Plan& plan, const std::optional<Recalled>& recalled);

// Returns the ids of our own facts in the request.
std::vector<std::string> own_facts(const std::optional<Recalled>& recalled);

}  // namespace plimsoll::engine
