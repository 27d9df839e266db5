#include "serve/plan_options.hpp"

namespace plimsoll {

PlanOptions plan_options(const config::Settings& settings) {
  PlanOptions options;
  options.fallback = settings.llm_fallback_enabled;
  options.fallback_models = settings.llm_allowed_fallback_models;
  options.compress_above_pct = settings.memory_compression_threshold_pct;
  options.max_history_turns = settings.max_history_turns;
  options.retrieval = {.safety_margin = settings.context_safety_margin,
                       .generation_buffer = settings.generation_buffer,
                       .average_chunk = settings.avg_chunk_tokens,
                       .min_top_k = settings.min_top_k,
                       .max_top_k = settings.max_top_k};
  options.prompt_overhead = settings.addition_prompt_tokens;
  return options;
}

}  // namespace plimsoll
