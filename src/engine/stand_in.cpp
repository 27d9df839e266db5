#include "engine/stand_in.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "engine/evidence/protect.hpp"

namespace plimsoll::engine {
namespace {

using base::with_thousands;

bool may_fall_back(const Engine& engine, const RequestState& state) {
  return is_chat(state) && state.sent < most_sent &&
         state.parts.wishes.fallback.value_or(engine.rules.plan.fallback);
}

bool was_tried(const RequestState& state, const models::UpstreamModels& models,
               const models::ModelLocation& location) {
  if (state.stand_in && std::ranges::find(state.stand_in->tried, location) != state.stand_in->tried.end())
    return true;
  const std::string& upstream = models.upstreams().members()[location.member].name;
  return std::ranges::any_of(state.trace.attempts, [&](const TraceAttempt& attempt) {
    return attempt.upstream == upstream && attempt.model == location.model;
  });
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

bool take_stand_in(Engine& engine, RequestState& state, std::string_view why) {
  if (!may_fall_back(engine, state)) return false;
  const models::UpstreamModels& models = engine.models;
  const auto& allowed = state.parts.wishes.fallback_models.empty() ? engine.rules.plan.fallback_models
                                                                   : state.parts.wishes.fallback_models;
  for (const std::string& name : allowed) {
    const auto location = models.served_as(name);
    if (!location || *location == state.location || was_tried(state, models, *location)) continue;
    if (engine.breakers.is_closed(*location, state.ask.caller.owner, engine.now())) continue;
    const auto window = models.listed_window(*location);
    if (!window || *window < state.needs()) continue;
    StandIn stand_in;
    if (state.stand_in) {
      stand_in = *state.stand_in;  // the requested model, and why it did not answer
    } else {
      stand_in.from = state.trace.model;
      stand_in.from_window = state.trace.window;
      stand_in.reason = fmt::format("{} did not answer ({})", state.trace.model, why);
    }
    stand_in.tried.push_back(state.location);
    log::warning(fmt::format("falling back from {} to {}", state.trace.model, location->model),
                 {{"trace", state.trace.id},
                  {"why", why},
                  {"from_window", state.trace.window},
                  {"to_window", *window}});
    state.stand_in = std::move(stand_in);
    state.model = models.upstreams().members()[location->member].name + "/" + location->model;
    state.location = *location;
    state.rendered_longer = 0;  // it was for the other server
    return true;
  }
  log::error("no fallback found", {{"trace", state.trace.id},
                                   {"model", state.trace.model},
                                   {"window", state.trace.window},
                                   {"required", state.needs()},
                                   {"why", why}});
  return false;
}

void tell_stand_in(RequestState& state) {
  if (!state.stand_in || !state.plan.fallback.to.empty()) return;
  FallbackDecision& fallback = state.plan.fallback;
  fallback.from = state.stand_in->from;
  fallback.from_window = state.stand_in->from_window;
  fallback.to = state.model;
  fallback.to_window = state.plan.window.tokens;
  fallback.reason = fmt::format("{}: falling back to {}, whose window is {}", state.stand_in->reason,
                                state.plan.model, with_thousands(state.plan.window.tokens));
  state.plan.warnings.push_back(fallback.reason);
}

}  // namespace plimsoll::engine
