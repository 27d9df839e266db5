// Applies rule B1: the number of passages of a request, in the format for chat-with-documents clients (C1,
// C4).
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct RetrievalChoice {
  std::string model;
  std::optional<Tokens> window;  // none: not found, and the rule is not applied
  std::string why_none;          // what was tried to find it
  std::string window_source;     // "served", "requestable"
  Tokens served_now = 0;         // for requestable; 0: not known
  std::int64_t original_top_k = 0;
  budget::RetrievalRoom room;

  std::int64_t used() const { return window ? std::min(original_top_k, room.top_k) : original_top_k; }
};

// Returns whether the window, or its possible size, was detected. A default does not count.
bool is_detected(const Window& window);

// Returns a choice for this model and window before the room is known.
RetrievalChoice choice_for(std::string model, const Window& window, std::int64_t top_k);

// Chooses for the room in a plan without passages.
RetrievalChoice choose_retrieval(const Plan& without, const PlanOptions& options, std::int64_t top_k);

// Logs "Adjusted top_k from A to B", and the numbers at debug level.
void log_retrieval(const RetrievalChoice& choice, bool best_last);

// {model_name, context_window, context_window_source, context_window_served, original_top_k,
// calculated_top_k, max_chunk_tokens, optimization_enabled}
nlohmann::ordered_json retrieval_json(const RetrievalChoice& choice);

}  // namespace plimsoll::engine
