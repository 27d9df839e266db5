// Rule B1 at work: how many passages a request gets, told as chat-with-documents clients read it (C1, C4).
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "plimsoll/plan.hpp"

namespace plimsoll::engine {

struct RetrievalChoice {
  std::string model;
  std::optional<Tokens> window;  // none: it could not be found out, and the rule is not applied
  std::string window_source;     // where it is from: "served", "requestable"
  Tokens served_now = 0;         // of a requestable one; 0: not known
  std::int64_t original_top_k = 0;
  budget::RetrievalRoom room;

  std::int64_t used() const { return window ? std::min(original_top_k, room.top_k) : original_top_k; }
};

// Whether anybody said how large the window is, or how large it can be made. A default is no such word.
bool is_detected(const Window& window);

// A choice for this model and window, before the room is known.
RetrievalChoice choice_for(std::string model, const Window& window, std::int64_t top_k);

// For what a plan without passages has.
RetrievalChoice choose_retrieval(const Plan& without, const PlanOptions& options, std::int64_t top_k);

// "Adjusted top_k from A to B", and at debug the figures behind it.
void log_retrieval(const RetrievalChoice& choice, bool best_last);

// {model_name, context_window, context_window_source, context_window_served, original_top_k,
// calculated_top_k, max_chunk_tokens, optimization_enabled}
nlohmann::ordered_json retrieval_json(const RetrievalChoice& choice);

}  // namespace plimsoll::engine
