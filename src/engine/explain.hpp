// What became of every piece, in words.
#pragma once

#include "engine/draft.hpp"
#include "engine/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

void list_pieces(Plan& plan, const RequestParts& parts, const Draft& draft, const budget::Stowage& stowage);

void list_warnings(Plan& plan, const PlanModel& model, const Draft& draft);

// `then`: the load for a window of `change` tokens more, or fewer.
PlannedPrice price_of(const RequestParts& parts, const Draft& draft, const budget::Stowage& now,
                      Tokens then_window, const Load& then, Tokens change);

}  // namespace plimsoll::engine
