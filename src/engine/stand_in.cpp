#include "engine/stand_in.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "engine/protect.hpp"

namespace plimsoll::engine {
namespace {

using base::with_thousands;

bool may_fall_back(const Engine& engine, const Course& course) {
  return is_chat(course) && course.sent < most_sent &&
         course.parts.wishes.fallback.value_or(engine.rules.plan.fallback);
}

bool was_tried(const Course& course, const FleetModels& models, const Berth& berth) {
  if (course.stand_in && std::ranges::find(course.stand_in->tried, berth) != course.stand_in->tried.end())
    return true;
  const std::string& upstream = models.fleet().members()[berth.member].name;
  return std::ranges::any_of(course.trace.attempts, [&](const TraceAttempt& attempt) {
    return attempt.upstream == upstream && attempt.model == berth.model;
  });
}

}  // namespace

bool is_unavailable(int status) {
  return status == 429 || status >= 500;
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

bool take_stand_in(Engine& engine, Course& course, std::string_view why) {
  if (!may_fall_back(engine, course)) return false;
  const FleetModels& models = engine.models;
  const auto& allowed = course.parts.wishes.fallback_models.empty() ? engine.rules.plan.fallback_models
                                                                    : course.parts.wishes.fallback_models;
  for (const std::string& name : allowed) {
    const auto berth = models.served_as(name);
    if (!berth || *berth == course.berth || was_tried(course, models, *berth)) continue;
    if (engine.breakers.is_closed(*berth, course.ask.caller.owner, engine.now())) continue;
    const auto window = models.listed_window(*berth);
    if (!window || *window < course.needs()) continue;
    StandIn stand_in;
    if (course.stand_in) {
      stand_in = *course.stand_in;  // the model that was asked for, and why it did not answer
    } else {
      stand_in.from = course.trace.model;
      stand_in.from_window = course.trace.window;
      stand_in.reason = fmt::format("{} did not answer ({})", course.trace.model, why);
    }
    stand_in.tried.push_back(course.berth);
    log::warning(fmt::format("falling back from {} to {}", course.trace.model, berth->model),
                 {{"trace", course.trace.id},
                  {"why", why},
                  {"from_window", course.trace.window},
                  {"to_window", *window}});
    course.stand_in = std::move(stand_in);
    course.model = models.fleet().members()[berth->member].name + "/" + berth->model;
    course.berth = *berth;
    course.rendered_longer = 0;  // which was of the other server
    return true;
  }
  log::error("no fallback found", {{"trace", course.trace.id},
                                   {"model", course.trace.model},
                                   {"window", course.trace.window},
                                   {"required", course.needs()},
                                   {"why", why}});
  return false;
}

void tell_stand_in(Course& course) {
  if (!course.stand_in || !course.plan.fallback.to.empty()) return;
  FallbackDecision& fallback = course.plan.fallback;
  fallback.from = course.stand_in->from;
  fallback.from_window = course.stand_in->from_window;
  fallback.to = course.model;
  fallback.to_window = course.plan.window.tokens;
  fallback.reason = fmt::format("{}: falling back to {}, whose window is {}", course.stand_in->reason,
                                course.plan.model, with_thousands(course.plan.window.tokens));
  course.plan.warnings.push_back(fallback.reason);
}

}  // namespace plimsoll::engine
