#include "ledger/reconcile.hpp"

#include <algorithm>

namespace plimsoll::ledger {
namespace {

// Returns how far a count may be off without a truncation.
Tokens slack_of(const Planned& planned) {
  // Our own model has a margin of 0; still, a few tokens at the ends of a prompt are not a truncation.
  constexpr Tokens least = 16;
  const Tokens slack = std::max(least, planned.margin);
  return planned.exactness == Exactness::calibrated ? std::max(slack, planned.input / 20) : slack;
}

// Returns the tokens that the server read, cached or not.
Tokens read_by(const Planned& planned, Tokens input, Tokens cached) {
  const Tokens slack = slack_of(planned);
  if (cached <= 0 || input >= planned.input - slack || cached > budget::most_tokens) return input;
  // Cached tokens may be part of the input, or reported in addition to it. If both are possible, the one that
  // matches the plan is used: a truncation of exactly the cached length is less likely than a server
  // that counts this way.
  const Tokens both = input + cached;
  const bool beside = cached > input || (both >= planned.input - slack && both <= planned.input + slack);
  return beside ? both : input;
}

}  // namespace

Reconciled reconcile(const Planned& planned, const Usage& usage) {
  // Servers report 0 if they do not know.
  if (!usage.input || *usage.input <= 0 || *usage.input > budget::most_tokens) return {};
  const Tokens read = read_by(planned, *usage.input, usage.cached.value_or(0));
  Reconciled out;
  out.drift = read - planned.input;
  if (planned.exactness != Exactness::estimated && -*out.drift > slack_of(planned)) out.cut = -*out.drift;
  return out;
}

}  // namespace plimsoll::ledger
