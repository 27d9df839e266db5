#include "engine/plan/draft.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "count/chat/chat_body.hpp"

namespace plimsoll::engine {
namespace {

// Returns the tokens of the messages, including images.
Tokens said_in(const ChatCount& counted, const chat::Messages& messages) {
  Tokens tokens = 0;
  for (const std::size_t i : messages) tokens += counted.messages[i] + counted.message_images[i];
  return tokens;
}

// Counts what is added to the messages, with the text around it.
void count_additions(const chat::ChatRequest& parts, const chat::Additions& with, const PlanModel& model,
                     Draft& draft) {
  const auto tokens = [&](const std::string& text) {
    return model.tokenizer.count(text, model.chat.specials);
  };
  for (std::size_t i = 0; i < with.facts.size(); ++i)
    draft.load.facts.push_back({tokens(fact_text(with.facts[i])), with.importance[i]});
  for (std::size_t i = 0; i < with.passages.size(); ++i)
    draft.load.passages.push_back({tokens(passage_text(with.passages[i])), with.score[i]});
  if (!with.facts.empty()) draft.load.facts_frame = tokens(render::facts_frame(with.facts));
  if (!with.passages.empty()) draft.load.passages_frame = tokens(render::passages_frame(with.instruction));
  if (const render::Summary* summary = chat::summary_of(parts, with))
    draft.load.summary = tokens(summary_text(*summary));
  for (const render::EarlierTurn& turn : with.earlier) {
    draft.earlier.push_back(tokens(earlier_text(turn)));
    draft.all_earlier += draft.earlier.back();
  }
  if (!with.earlier.empty()) draft.all_earlier += tokens(render::earlier_frame());
  draft.load.summary += draft.all_earlier;  // both stand for turns that are not sent
}

}  // namespace

Tokens whole_message(const ChatCount& counted, std::size_t message) {
  return counted.messages[message] + counted.message_images[message] + counted.frames[message];
}

Result<ContextBounds> context_bounds(const Draft& draft, const chat::ChatRequest& parts, Tokens window,
                                     const PlanOptions& options) {
  const budget::Wants& wants = draft.wants;
  ContextBounds bounds;
  if (parts.context_ratio) {
    TRY(bounds.limit, budget::context_budget(window, wants.question, wants.answer, *parts.context_ratio,
                                             options.prompt_overhead));
  } else if (draft.policy == Policy::document_chat) {
    const budget::RetrievalRoom room = budget::retrieval_room(
        window, wants.system + wants.tools, wants.question, wants.turns + wants.summary, options.retrieval);
    bounds.limit = room.room;
    if (draft.window_is_known) bounds.most_passages = room.top_k;
  }
  bounds.most_passages = std::min(bounds.most_passages, options.most_passages.value_or(bounds.most_passages));
  if (parts.wishes.budget)
    bounds.limit = std::min(*parts.wishes.budget, bounds.limit.value_or(*parts.wishes.budget));
  return bounds;
}

Result<Load> load_for(const Draft& draft, const chat::ChatRequest& parts, Tokens window,
                      const PlanOptions& options) {
  budget::Wants wants = draft.wants;
  Load load = draft.load;
  TRY(const ContextBounds bounds, context_bounds(draft, parts, window, options));
  wants.context_limit = bounds.limit;
  load.most_passages = bounds.most_passages;
  load.sections = budget::sections_for(wants, draft.policy, window);
  return load;
}

Result<Draft> draft_plan(const chat::ChatRequest& parts, const chat::Additions& with, const PlanModel& model,
                         const PlanOptions& options) {
  Draft draft;
  TRY(draft.counted, count::count_chat_body(model.tokenizer, parts.body, model.chat));
  const ChatCount& counted = draft.counted;
  draft.window_is_known = model.window.source != WindowSource::assumed;
  draft.policy = options.policy.value_or(parts.policy.value_or(Policy::balanced));

  budget::Wants& wants = draft.wants;
  wants.format = counted.template_tokens;
  for (const chat::Messages& turn : parts.turns) {
    Piece piece;
    for (const std::size_t i : turn) {
      piece.tokens += whole_message(counted, i);
      wants.format -= counted.frames[i];  // counted with the turn
    }
    draft.load.turns.push_back(piece);
  }
  wants.system = said_in(counted, parts.system);
  wants.tools = counted.tools;
  wants.question = said_in(counted, parts.question);
  count_additions(parts, with, model, draft);
  wants.facts = budget::sum_of(draft.load.facts) + draft.load.facts_frame;
  wants.turns = budget::sum_of(draft.load.turns);
  wants.summary = draft.load.summary;
  wants.passages = budget::sum_of(draft.load.passages) + draft.load.passages_frame;
  wants.answer = options.max_tokens ? options.max_tokens : parts.max_tokens;
  wants.answer_by_default = options.retrieval.generation_buffer;
  wants.most_answer = wants.answer || model.max_output > 0 ? model.max_output : model.usual_output;
  wants.thinking = parts.thinking;
  wants.margin = budget::margin_for(model.drift) + options.kept_free;
  draft.load.most_turns = options.max_history_turns.value_or(draft.load.most_turns);
  TRY(draft.load, load_for(draft, parts, model.window.tokens, options));
  return draft;
}

}  // namespace plimsoll::engine
