// What was planned against what the upstream says it has read.
#pragma once

#include <optional>

#include "plimsoll/tokens.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// The figures that a plan stood by.
struct Planned {
  Tokens input = 0;
  Tokens margin = 0;
  Exactness exactness = Exactness::exact;
};

struct Reconciled {
  std::optional<Tokens> drift;  // what was read, less the plan; nothing where the upstream did not say
  Tokens cut = 0;               // how many tokens of the prompt the upstream left out
};

// A prompt that was read short of the plan by more than the count can be wrong was cut:
//   exact counts       by more than the margin, which is what the format around the messages may differ in;
//   calibrated counts  by more than that and a twentieth of the plan;
//   estimates          prove nothing: there is drift and never a cut.
// Some servers report what they took from their cache beside the input instead of within it: where the two
// together come to the plan, they are what was read. A drift is worth learning only where nothing was cut.
Reconciled reconcile(const Planned& planned, const Usage& usage);

}  // namespace plimsoll::ledger
