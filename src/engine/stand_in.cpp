#include "engine/stand_in.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text/text.hpp"

namespace plimsoll::engine {
namespace {

using base::with_thousands;

bool was_tried(const Attempt& attempt, const Trace& trace, const models::UpstreamModels& models,
               const models::ModelLocation& location) {
  if (attempt.stand_in &&
      std::ranges::find(attempt.stand_in->tried, location) != attempt.stand_in->tried.end())
    return true;
  const std::string& upstream = models.upstreams().members()[location.member].name;
  return std::ranges::any_of(trace.attempts, [&](const TraceAttempt& tried) {
    return tried.upstream == upstream && tried.model == location.model;
  });
}

// Vectors of another model cannot be compared, and a response may continue one that its server keeps.
bool may_be_replaced(RequestKind kind) {
  return kind == RequestKind::chat || kind == RequestKind::completion;
}

Tokens needed(const Trace& trace) {
  return trace.input + trace.thinking + trace.answer + trace.margin;
}

}  // namespace

bool is_unavailable(Took took) {
  return took == Took::limited || took == Took::out_of_service || took == Took::failed;
}

std::string_view kind_of_failure(const Error& error) {
  switch (error.code) {
    case Errc::unreachable: return "no connection";
    case Errc::timed_out: return "no answer in time";
    default: return "it failed";
  }
}

bool is_unavailable(const Error& error) {
  return error.code == Errc::unreachable || error.code == Errc::upstream_failed ||
         error.code == Errc::timed_out;
}

std::optional<Replan> take_stand_in(const Engine& engine, const Received& received, const Request& request,
                                    const Attempt& attempt, const Trace& trace,
                                    const models::ModelLocation& failed, std::string_view why) {
  const chat::RequestWishes& wishes = request.chat.wishes;
  if (!may_be_replaced(received.ask.kind) || !attempt.may_be_sent_again() ||
      !wishes.fallback.value_or(engine.rules.plan.fallback))
    return std::nullopt;
  const models::UpstreamModels& models = engine.models;
  const auto& allowed =
      wishes.fallback_models.empty() ? engine.rules.plan.fallback_models : wishes.fallback_models;
  for (const std::string& name : allowed) {
    const auto location = models.served_as(name);
    if (!location || *location == failed || was_tried(attempt, trace, models, *location)) continue;
    if (engine.breakers.is_closed(*location, received.owner(), engine.now())) continue;
    const auto window = models.listed_window(*location);
    if (!window || *window < needed(trace)) continue;
    Replan replan{Replan::Reason::server_down, attempt};
    if (!attempt.stand_in)  // else it has the requested model, and why that did not answer
      replan.next.stand_in =
          StandIn{trace.model, trace.window, fmt::format("{} did not answer ({})", trace.model, why), {}};
    replan.next.stand_in->tried.push_back(failed);
    log::warning(
        fmt::format("falling back from {} to {}", trace.model, location->model),
        {{"trace", received.trace_id}, {"why", why}, {"from_window", trace.window}, {"to_window", *window}});
    replan.next.model = models.upstreams().members()[location->member].name + "/" + location->model;
    replan.next.location = *location;
    replan.next.kept_free = 0;  // it was for the other server
    return replan;
  }
  log::error("no fallback found", {{"trace", received.trace_id},
                                   {"model", trace.model},
                                   {"window", trace.window},
                                   {"required", needed(trace)},
                                   {"why", why}});
  return std::nullopt;
}

void tell_stand_in(Plan& plan, const Attempt& attempt) {
  if (!attempt.stand_in || !plan.fallback.to.empty()) return;
  const StandIn& stand_in = *attempt.stand_in;
  FallbackDecision& fallback = plan.fallback;
  fallback.from = stand_in.from;
  fallback.from_window = stand_in.from_window;
  fallback.to = attempt.model;
  fallback.to_window = plan.window.tokens;
  fallback.reason = fmt::format("{}: falling back to {}, whose window is {}", stand_in.reason, plan.model,
                                with_thousands(plan.window.tokens));
  plan.warnings.push_back(fallback.reason);
}

}  // namespace plimsoll::engine
