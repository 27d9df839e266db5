#include "engine/course.hpp"

#include "base/log.hpp"

namespace plimsoll::engine {
namespace {

std::int64_t utc_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

Course::Course(Ask asked, std::string trace_id) : ask(std::move(asked)) {
  trace.id = std::move(trace_id);
  trace.owner = ask.owner;
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
  log::debug("request", {{"trace", trace.id},
                         {"model", trace.model},
                         {"status", trace.status},
                         {"input", trace.input},
                         {"window", trace.window},
                         {"us", trace.total_us}});
  if (engine.traces == nullptr) return;
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
