// Compares the plan with the usage reported by the upstream.
#pragma once

#include <optional>

#include "plimsoll/tokens.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// The numbers of a plan.
struct Planned {
  Tokens input = 0;
  Tokens margin = 0;
  Exactness exactness = Exactness::exact;
};

struct Reconciled {
  std::optional<Tokens> drift;  // read tokens minus plan; none: not reported
  Tokens cut = 0;               // tokens that the upstream truncated
};

// A prompt was truncated if the server read fewer tokens than planned, by more than the possible counting
// error:
//   exact counts       more than the margin, by which the chat template may differ;
//   calibrated counts  more than the margin plus a twentieth of the plan;
//   estimates          never: there is only drift.
// Some servers report cached tokens in addition to the input: if both together match the plan, their sum is
// the number of read tokens. Drift is learned only if nothing was truncated.
Reconciled reconcile(const Planned& planned, const Usage& usage);

}  // namespace plimsoll::ledger
