// What became of every piece, in words.
#pragma once

#include "engine/plan/draft.hpp"
#include "engine/plan/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

void list_pieces(Plan& plan, const RequestParts& parts, const Draft& draft,
                 const budget::Placement& placement);

// Whether nothing stands between two pieces that follow each other in a plan's list: a summary may stand for
// messages between those that are left.
bool are_neighbours(const PlannedPiece& before, const PlannedPiece& piece);

void list_warnings(Plan& plan, const PlanModel& model, const Draft& draft);

// `then`: the load for a window of `change` tokens more, or fewer.
PlannedPrice price_of(const RequestParts& parts, const Draft& draft, const budget::Placement& now,
                      Tokens then_window, const Load& then, Tokens change);

}  // namespace plimsoll::engine
