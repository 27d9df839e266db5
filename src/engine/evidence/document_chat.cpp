#include "engine/evidence/document_chat.hpp"

#include "base/log.hpp"

namespace plimsoll::engine {

bool is_detected(const Window& window) {
  const bool only_assumed =
      window.source == WindowSource::requestable && window.confidence == Confidence::low;
  return window.source != WindowSource::assumed && !only_assumed;
}

RetrievalChoice choice_for(std::string model, const Window& window, std::int64_t top_k) {
  RetrievalChoice choice;
  choice.model = std::move(model);
  if (is_detected(window))
    choice.window = window.tokens;
  else
    choice.why_none = in_words(window.tried);
  choice.window_source = name_of(window.source);
  choice.served_now = window.source == WindowSource::requestable ? window.served_now : window.tokens;
  choice.original_top_k = top_k;
  return choice;
}

RetrievalChoice choose_retrieval(const Plan& without, const PlanOptions& options, std::int64_t top_k) {
  const auto wanted = [&](SectionKind kind) {
    const auto place = static_cast<std::size_t>(kind);
    return place < without.sections.size() ? without.sections[place].section.basis : Tokens{0};
  };
  const Tokens window = without.window.tokens;
  RetrievalChoice choice = choice_for(without.model, without.window, top_k);
  choice.room =
      budget::retrieval_room(window, wanted(SectionKind::system) + wanted(SectionKind::tools),
                             wanted(SectionKind::question), wanted(SectionKind::history), options.retrieval);
  return choice;
}

void log_retrieval(const RetrievalChoice& choice, bool best_last) {
  const Tokens window = choice.window.value_or(0);
  const std::int64_t used = choice.used();
  if (!choice.window)
    return log::warning("no window detected: top_k unchanged",
                        {{"model", choice.model}, {"why", choice.why_none}, {"top_k", used}});
  if (used == choice.original_top_k)
    log::info("top_k unchanged", {{"model", choice.model}, {"window", window}, {"top_k", used}});
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
  const bool told = enabled && choice.served_now > 0;
  return {{"model_name", choice.model},
          {"context_window", enabled ? Json(*choice.window) : Json()},
          {"context_window_source", enabled ? Json(choice.window_source) : Json()},
          {"context_window_served", told ? Json(choice.served_now) : Json()},
          {"original_top_k", choice.original_top_k},
          {"calculated_top_k", enabled ? choice.room.top_k : choice.original_top_k},
          {"max_chunk_tokens", enabled ? Json(choice.room.max_chunk_tokens) : Json()},
          {"optimization_enabled", enabled}};
}

}  // namespace plimsoll::engine
