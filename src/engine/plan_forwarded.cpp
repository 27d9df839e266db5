// Plans requests that are forwarded: the input must fit, and the answer gets what is left at most.
#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "chat/forwarded.hpp"
#include "chat/write_chat.hpp"
#include "engine/stages.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

using base::with_thousands;

Error input_too_long(const Planned& planned, const PlanModel& model) {
  const Figures& figures = planned.figures;
  return fail(
             Errc::over_budget,
             "Prompt length exceeds context window. {} The input has {} tokens ({}) and the margin is {}; {} "
             "has a window of {} ({}). Shorten the input, or choose a model with a larger window.",
             overflow_in_openais_words(figures.window, figures.input, 0), with_thousands(figures.input),
             name_of(figures.exactness), with_thousands(figures.margin), planned.model,
             with_thousands(figures.window), name_of(model.window.source))
      .value();
}

}  // namespace

std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion) {
  return fmt::format(
      "This model's maximum context length is {} tokens. However, you requested {} tokens ({} in the "
      "messages, "
      "{} in the completion).",
      window, messages + completion, messages, completion);
}

Result<PlanStep> plan_forwarded(const Engine& engine, const Received& received, const Request& request,
                                const Attempt& attempt, const PlanModels& models) {
  PlanStep step;
  Planned& planned = step.planned;
  Figures& figures = planned.figures;
  planned.location = attempt.location;
  planned.model = attempt.location.model;
  planned.upstream = engine.models.upstreams().members()[attempt.location.member].name;
  TRY(const PlanModel model, models.open(attempt.model));
  const bool is_renamed = attempt.model != planned.model && !planned.model.empty();
  if (is_renamed) {
    planned.body = chat::with_model(request.chat.body, planned.model);
    planned.changed = true;
  }
  figures.window = engine.models.unasked_window(attempt.location, model.window.tokens);
  if (attempt.stand_in) {
    planned.plan.model = planned.model;
    planned.plan.window.tokens = figures.window;
    tell_stand_in(planned.plan, attempt);
  }
  if (!chat::is_counted(request.chat)) return step;
  TRY(const chat::ForwardedCount counted, chat::count_forwarded(request.chat, model));
  TRY(const chat::AnswerLimit asked, chat::answer_limit(request.chat));
  figures.input = counted.input;
  figures.exactness = counted.exactness;
  figures.margin = budget::margin_for(model.drift);
  const Tokens room = figures.window - figures.input - figures.margin;
  if (room < 1) {
    planned.refusal = input_too_long(planned, model);
    return step;
  }
  const RequestKind kind = received.ask.kind;
  figures.answer = std::min(room, asked.wanted.value_or(chat::limit_by_default(kind, room)));
  if (asked.wanted > room) {
    auto limited = request.chat.body;
    if (is_renamed) limited["model"] = planned.model;
    planned.body = chat::with_limit(std::move(limited), kind, room);
    planned.changed = true;
    if (!asked.is_unlimited)
      step.notes.warnings.push_back(fmt::format("{} is REDUCED from {} to {}: the window has no more room",
                                                asked.field, with_thousands(*asked.wanted),
                                                with_thousands(room)));
  }
  return step;
}

}  // namespace plimsoll::engine
