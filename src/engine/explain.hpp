// What became of every piece, in words.
#pragma once

#include "engine/draft.hpp"
#include "engine/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

// `stowage` is null where not even the minimums fit.
void list_pieces(Plan& plan, const RequestParts& parts, const Draft& draft, const budget::Stowage* stowage);

void list_warnings(Plan& plan, const PlanModel& model, const Draft& draft);

PlannedPrice price_of(const RequestParts& parts, const Draft& draft, const budget::Stowage& now,
                      Tokens window, Tokens change);

}  // namespace plimsoll::engine
