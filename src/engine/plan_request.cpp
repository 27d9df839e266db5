// Plans a request: count, window, strategy, retrieve, budget, render.
#include <utility>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "chat/write_chat.hpp"
#include "engine/history/compress.hpp"
#include "engine/history/recall_turns.hpp"
#include "engine/models_for.hpp"
#include "engine/plan/plan.hpp"
#include "engine/stages.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

using base::with_thousands;

PlanOptions options_for(const Engine& engine, const Received& received, const Request& request,
                        const Attempt& attempt) {
  PlanOptions options = engine.rules.plan;
  const chat::RequestWishes& wishes = request.chat.wishes;
  options.brief = !wishes.explain && !received.ask.in_full;
  options.kept_free = attempt.kept_free;
  options.fallback = wishes.fallback.value_or(options.fallback);
  if (!wishes.fallback_models.empty()) options.fallback_models = wishes.fallback_models;
  if (received.ask.documents) {
    options.policy = Policy::document_chat;
    options.most_passages = received.ask.documents->top_k;
  }
  return options;
}

// Returns one plan, with documents where they are asked for.
Result<PlanStep> plan_once(const Engine& engine, const Received& received, const Request& request,
                           const Attempt& attempt, const chat::Additions& with, const PlanOptions& options,
                           const PlanModels& models, Deadline deadline) {
  if (!request.chat.wishes.index.empty())
    return plan_with_documents(engine, received, request, attempt, with, options, models, deadline);
  PlanStep step;
  TRY(step.planned.plan, plan_parts(request.chat, with, attempt.model, options, models));
  step.again = replan_due(engine, request.chat, attempt, step.planned.plan);
  return step;
}

// Plans with all that the request has, then with less while it does not fit: a larger model instead of the
// older turns that were found, no older turns, no summary.
class Planner {
 public:
  Planner(const Engine& engine, const Received& received, const Request& request, const Attempt& attempt,
          PlanOptions options, const PlanModels& models, Deadline deadline)
      : engine_(engine),
        received_(received),
        request_(request),
        attempt_(attempt),
        options_(std::move(options)),
        models_(models),
        deadline_(deadline) {}

  Result<PlanStep> plan() {
    chat::Additions with = request_.chat.additions;
    // History is compressed before a larger model is looked for, so the first plan is for the one that was
    // asked for.
    const bool falls_back = std::exchange(options_.fallback, false);
    TRY_VOID(try_with(with));
    if (step_.again) return std::move(step_);
    if (falls_back && plan_of_step().fallback.needed) {
      options_.fallback = true;
      auto earlier = std::exchange(with.earlier, {});  // a larger window may have room for the turns
      TRY_VOID(try_with(with));
      if (plan_of_step().fallback.to.empty() && !earlier.empty()) {
        with.earlier = std::move(earlier);
        TRY_VOID(try_with(with));
      }
    }
    if (!plan_of_step().fits && !with.earlier.empty()) {
      with.earlier.clear();
      TRY_VOID(try_with(with));
    }
    if (!plan_of_step().fits && chat::summary_of(request_.chat, with) != nullptr) {
      with.without_summary = true;
      TRY_VOID(try_with(with));
    }
    step_.again.reset();
    return std::move(step_);
  }

 private:
  const Plan& plan_of_step() const { return step_.planned.plan; }

  Result<void> try_with(const chat::Additions& with) {
    TRY(PlanStep step, plan_once(engine_, received_, request_, attempt_, with, options_, models_, deadline_));
    step.notes.retrieve_us += step_.notes.retrieve_us;
    step_ = std::move(step);
    attempt_.found = step_.found;
    return {};
  }

  const Engine& engine_;
  const Received& received_;
  const Request& request_;
  Attempt attempt_;
  PlanOptions options_;
  const PlanModels& models_;
  Deadline deadline_;
  PlanStep step_;
};

Figures figures_of(const Plan& plan) {
  return {plan.window.tokens, plan.input, plan.thinking, plan.answer, plan.margin, plan.exactness};
}

Error over_budget(const Plan& plan) {
  return fail(Errc::over_budget,
              "Prompt length exceeds context window. {} {} tokens are the least that this request needs "
              "(input {}, thinking {}, answer {}, margin {}), and {} has {} ({}). Shorten the request, lower "
              "max_tokens, choose a model with a larger window, or allow a fallback (llm_fallback_enabled).",
              overflow_in_openais_words(plan.window.tokens, plan.input, plan.thinking + plan.answer),
              with_thousands(plan.least), with_thousands(plan.input), with_thousands(plan.thinking),
              with_thousands(plan.answer), with_thousands(plan.margin), plan.model,
              with_thousands(plan.window.tokens), name_of(plan.window.source))
      .value();
}

// What only one kind of server knows cannot be sent as a chat.
std::optional<Error> inexpressible(const Engine& engine, const Sendable& one) {
  const auto& native = one.received.ask.native;
  if (!native || native->beyond_a_chat.empty() || goes_native(engine, one)) return std::nullopt;
  return fail(Errc::bad_input,
              "{}: such a request goes only to a server that knows it, and only unchanged; here it would be "
              "{}",
              native->beyond_a_chat,
              one.planned.changed ? "cut, extended or sent to another model" : "answered with a report")
      .value();
}

// Logs the figures behind max_tokens, as a warning if it was lowered.
void log_budget(const Received& received, const Plan& plan) {
  if (!plan.requested_answer) return;
  const bool reduced = plan.answer < *plan.requested_answer;
  log::write(reduced ? log::Level::warning : log::Level::debug,
             reduced ? "answer reduced" : "answer as asked",
             {{"trace", received.trace_id},
              {"model", plan.model},
              {"window", plan.window.tokens},
              {"input", plan.input},
              {"available", plan.window.tokens - plan.input - plan.thinking - plan.margin},
              {"requested", *plan.requested_answer},
              {"adjusted", plan.answer},
              {"mark", reduced ? "REDUCED" : "-"}});
}

// `enabled`: a larger model was looked for.
void log_fallback(const Received& received, const FallbackDecision& fallback, bool enabled) {
  if (!fallback.needed) return;
  log::write(enabled ? log::Level::info : log::Level::debug, "fallback threshold exceeded",
             {{"trace", received.trace_id},
              {"model", fallback.from},
              {"total", fallback.total},
              {"threshold", fallback.threshold},
              {"window", fallback.from_window}});
  if (!enabled) return;
  if (fallback.to.empty())
    return log::error("no fallback found", {{"trace", received.trace_id},
                                            {"model", fallback.from},
                                            {"window", fallback.from_window},
                                            {"required", fallback.required},
                                            {"why", fallback.reason}});
  log::info(fmt::format("falling back from {} to {}", fallback.from, fallback.to),
            {{"trace", received.trace_id},
             {"from_window", fallback.from_window},
             {"to_window", fallback.to_window},
             {"required", fallback.required}});
}

// Returns the plan with usage asked for in a stream, if the body is ours already or somebody needs it.
Planned with_usage_asked(const Engine& engine, const Received& received, const chat::ChatRequest& chat,
                         Planned planned) {
  if (engine.models.upstreams().always_tells_usage(planned.location.member)) {
    planned.hides_usage = chat.streams && !chat.wants_usage;
    return planned;
  }
  const bool wanted = engine.rules.ask_for_usage || received.ask.caller.metered;
  if (!chat::may_ask_for_usage(chat) || (planned.body.empty() && !wanted)) return planned;
  if (planned.body.empty()) planned.body = received.ask.body;
  chat::ask_for_usage(planned.body);
  planned.hides_usage = true;
  planned.changed = true;
  return planned;
}

// Renders: chooses the server, and writes the body that it gets.
Result<Planned> rendered(const Engine& engine, const Received& received, const Request& request,
                         const Attempt& attempt, Planned planned) {
  Plan& plan = planned.plan;
  const std::string& chosen = plan.fallback.to;
  TRY(planned.location, engine.models.upstreams().find(chosen.empty() ? attempt.model : chosen));
  planned.model = planned.location.model;
  planned.upstream = engine.models.upstreams().members()[planned.location.member].name;
  if (!chosen.empty())
    log::info("request made for the fallback model", {{"trace", received.trace_id},
                                                      {"model", planned.model},
                                                      {"upstream", planned.upstream},
                                                      {"window", plan.window.tokens}});
  planned.changed = !plan.untouched;
  if (planned.changed) planned.body = plan.request;
  planned = with_usage_asked(engine, received, request.chat, std::move(planned));
  planned.refusal = inexpressible(engine, {received, request, attempt, planned});
  return planned;
}

}  // namespace

std::optional<Replan::Reason> replan_due(const Engine& engine, const chat::ChatRequest& chat,
                                         const Attempt& attempt, const Plan& plan) {
  if (compression_is_due(engine, chat, attempt, plan)) return Replan::Reason::history_too_long;
  if (recall_is_due(engine, chat, attempt, plan)) return Replan::Reason::turns_left_out;
  return std::nullopt;
}

bool goes_native(const Engine& engine, const Sendable& one) {
  const auto& native = one.received.ask.native;
  return native && one.planned.body.empty() && !one.is_annotated() &&
         engine.models.upstreams().kind_of(one.planned.location.member) == native->server;
}

bool is_quickly_planned(const Engine& engine, const Received& received, const Request& request,
                        const Attempt& attempt) {
  const chat::RequestWishes& wishes = request.chat.wishes;
  return wishes.index.empty() && !wants_memories(engine, received, request) && !engine.rules.plan.fallback &&
         !wishes.fallback && engine.models.is_known(attempt.location);
}

Result<PlanStep> plan_request(const Engine& engine, const Received& received, const Request& request,
                              const Attempt& attempt, Deadline deadline) {
  const models::RequestModels models = models_for(engine, received, attempt, deadline);
  if (!received.is_chat()) return plan_forwarded(engine, received, request, attempt, models);
  const PlanOptions options = options_for(engine, received, request, attempt);
  TRY(PlanStep step, Planner(engine, received, request, attempt, options, models, deadline).plan());
  if (step.again) return step;
  Planned& planned = step.planned;
  list_left_memories(planned.plan, request.recalled);
  planned.figures = figures_of(planned.plan);
  planned.location = attempt.location;
  tell_stand_in(planned.plan, attempt);
  log_budget(received, planned.plan);
  log_fallback(received, planned.plan.fallback, options.fallback);
  if (!planned.plan.fits) {
    planned.refusal = over_budget(planned.plan);
    return step;
  }
  TRY(planned, rendered(engine, received, request, attempt, std::move(planned)));
  return step;
}

}  // namespace plimsoll::engine
