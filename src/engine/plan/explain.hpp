// Explains in words what was done with every piece.
#pragma once

#include "chat/chat_request.hpp"
#include "engine/plan/draft.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

void list_pieces(Plan& plan, const chat::ChatRequest& parts, const chat::Additions& with, const Draft& draft,
                 const budget::Placement& placement);

// Returns whether two consecutive pieces of a plan's list are adjacent in the request: a summary may have
// replaced messages between them.
bool are_neighbours(const PlannedPiece& before, const PlannedPiece& piece);

void list_warnings(Plan& plan, const PlanModel& model, const Draft& draft);

// `then`: the load for a window that is larger by `change` tokens, or smaller.
PlannedPrice price_of(const chat::ChatRequest& parts, const chat::Additions& with, const Draft& draft,
                      const budget::Placement& now, Tokens then_window, const Load& then, Tokens change);

}  // namespace plimsoll::engine
