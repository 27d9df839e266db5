// A trace without its pieces, passages and prompt: what a list of requests shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plimsoll/tokens.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

struct SectionSummary {
  std::string name;
  Tokens grant = 0, used = 0;
};

// What a summary has of the plan.
struct PlanSummary {
  bool is_there = false;
  Tokens left = 0;
  double pressure = 0;
  std::string policy, strategy;
  std::vector<SectionSummary> sections;
  std::int64_t kept = 0, dropped = 0, summarised = 0;
};

// One JSON object on one line each. A request that has begun: `id`, `at_ms`, `session`, `route`,
// `asked_model`.
std::string begun_summary(const Trace& trace);
// The same and: model, upstream, status, the window and how it is divided by section, pressure, strategy,
// usage, drift, cut tokens and times.
std::string trace_summary(const Trace& trace, const PlanSummary& plan);
// Of a stored trace, whose plan is text.
std::string trace_summary(const Trace& trace);

}  // namespace plimsoll::ledger
