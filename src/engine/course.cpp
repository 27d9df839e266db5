#include "engine/course.hpp"

#include "base/log.hpp"

namespace plimsoll::engine {
namespace {

std::int64_t utc_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Nothing happened that anybody would look for.
bool is_plain(const Trace& trace) {
  return !trace.changed && trace.status == 200 && trace.error.empty() && trace.cut == 0 &&
         trace.session.empty() && trace.index.empty() && trace.warnings.empty() && trace.attempts.size() == 1;
}

void count_up(Counters& counters, const Course& course, const Result<void>& outcome) {
  const Trace& trace = course.trace;
  ++counters.requests;
  if (!outcome) ++(outcome.error().code == Errc::over_budget ? counters.refused : counters.failed);
  if (outcome && trace.changed) ++counters.planned;
  if (outcome && !trace.changed) ++counters.untouched;
  if (outcome && !course.plan.fallback.to.empty()) ++counters.fallbacks;
  if (trace.cut > 0) {
    ++counters.cuts;
    counters.cut_tokens += static_cast<std::uint64_t>(trace.cut);
  }
}

}  // namespace

Course::Course(Ask asked, std::string trace_id) : ask(std::move(asked)) {
  trace.id = std::move(trace_id);
  trace.owner = ask.caller.owner;
  trace.route = ask.route;
  trace.at_ms = utc_ms();
}

void close_course(Engine& engine, Course& course, const Result<void>& outcome) {
  Trace& trace = course.trace;
  trace.stream = course.stream;
  trace.total_us = course.microseconds();
  if (!outcome) {
    trace.error = outcome.error().what;
    if (trace.status == 0) trace.status = status_of(outcome.error().code);
  }
  count_up(engine.counters, course, outcome);
  log::debug("request", {{"trace", trace.id},
                         {"model", trace.model},
                         {"status", trace.status},
                         {"input", trace.input},
                         {"window", trace.window},
                         {"us", trace.total_us}});
  if (engine.traces == nullptr || (is_plain(trace) && !engine.traces->takes_plain())) return;
  if (!course.plan.sections.empty()) trace.plan = plan_json_line(course.plan);
  trace.warnings.insert(trace.warnings.begin(), course.plan.warnings.begin(), course.plan.warnings.end());
  for (FoundPassage& found : course.passages) {
    TracePassage passage{found.passage.key,
                         found.passage.source,
                         found.passage.tokens,
                         static_cast<double>(found.passage.score),
                         found.distance,
                         found.passage.reason,
                         {}};
    if (engine.rules.keep_prompts) passage.text = std::move(found.passage.text);
    trace.passages.push_back(std::move(passage));
  }
  if (engine.rules.keep_prompts) trace.prompt = course.outgoing();
  engine.traces->add(std::move(trace));
}

}  // namespace plimsoll::engine
