#include "engine/document_chat.hpp"

#include "base/log.hpp"

namespace plimsoll::engine {

RetrievalChoice choose_retrieval(const Plan& without, const PlanOptions& options, std::int64_t top_k) {
  const auto wanted = [&](SectionKind kind) {
    const auto place = static_cast<std::size_t>(kind);
    return place < without.sections.size() ? without.sections[place].section.basis : Tokens{0};
  };
  const Tokens window = without.window.tokens;
  return {
      without.model, window, top_k,
      budget::retrieval_room(window, wanted(SectionKind::system) + wanted(SectionKind::tools),
                             wanted(SectionKind::question), wanted(SectionKind::history), options.retrieval)};
}

void log_retrieval(const RetrievalChoice& choice, bool best_last) {
  const Tokens window = choice.window.value_or(0);
  const std::int64_t used = choice.used();
  if (used == choice.original_top_k)
    log::info("top_k stays", {{"model", choice.model}, {"window", window}, {"top_k", used}});
  else
    log::info(fmt::format("Adjusted top_k from {} to {}", choice.original_top_k, used),
              {{"model", choice.model}, {"window", window}});
  log::debug("room for passages", {{"model", choice.model},
                                   {"room", choice.room.room},
                                   {"top_k", choice.room.top_k},
                                   {"max_chunk_tokens", choice.room.max_chunk_tokens},
                                   {"reversed", best_last}});
}

nlohmann::ordered_json retrieval_json(const RetrievalChoice& choice) {
  using Json = nlohmann::ordered_json;
  const bool enabled = choice.window.has_value();
  return {{"model_name", choice.model},
          {"context_window", enabled ? Json(*choice.window) : Json()},
          {"original_top_k", choice.original_top_k},
          {"calculated_top_k", enabled ? choice.room.top_k : choice.original_top_k},
          {"max_chunk_tokens", enabled ? Json(choice.room.max_chunk_tokens) : Json()},
          {"optimization_enabled", enabled}};
}

}  // namespace plimsoll::engine
