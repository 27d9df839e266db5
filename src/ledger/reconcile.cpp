#include "ledger/reconcile.hpp"

#include <algorithm>

namespace plimsoll::ledger {
namespace {

// How far a count may be from the truth without anything having been left out.
Tokens slack_of(const Planned& planned) {
  // A margin of 0 is our own model's: still a token or two at the ends of a prompt are no cut.
  constexpr Tokens least = 16;
  const Tokens slack = std::max(least, planned.margin);
  return planned.exactness == Exactness::calibrated ? std::max(slack, planned.input / 20) : slack;
}

// What the server had before it, cached or not.
Tokens read_by(const Planned& planned, Tokens input, Tokens cached) {
  const Tokens slack = slack_of(planned);
  if (cached <= 0 || input >= planned.input - slack || cached > budget::most_tokens) return input;
  // Within the input the cached ones cannot be more than it is; beside it they fill what is missing. Where
  // both readings are possible the one that comes to the plan is taken, as a cut that happens to be as long
  // as what was cached is rarer than a server that counts so.
  const Tokens both = input + cached;
  const bool beside = cached > input || (both >= planned.input - slack && both <= planned.input + slack);
  return beside ? both : input;
}

}  // namespace

Reconciled reconcile(const Planned& planned, const Usage& usage) {
  // None of a prompt is never what was read: servers say 0 where they do not know.
  if (!usage.input || *usage.input <= 0 || *usage.input > budget::most_tokens) return {};
  const Tokens read = read_by(planned, *usage.input, usage.cached.value_or(0));
  Reconciled out;
  out.drift = read - planned.input;
  if (planned.exactness != Exactness::estimated && -*out.drift > slack_of(planned)) out.cut = -*out.drift;
  return out;
}

}  // namespace plimsoll::ledger
