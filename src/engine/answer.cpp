#include "engine/answer.hpp"

#include "base/log.hpp"
#include "base/try.hpp"
#include "engine/annotate.hpp"
#include "engine/compress.hpp"
#include "engine/course.hpp"
#include "engine/rewrite.hpp"
#include "engine/served_format.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

// Count, window, strategy, retrieve, budget, render: here where it is quick, else on a worker.
Awaitable<Result<void>> charted_once(Engine& engine, Crew& crew, Course& course, Deadline deadline) {
  if (course.ask.body.size() <= engine.rules.planned_at_once_bytes) {
    CO_TRY_VOID(read_request(engine, course));
    if (is_quickly_charted(engine, course)) co_return chart(engine, course, deadline);
  }
  Result<void> done;
  std::function<void()> work = [&] {
    unpack(course);
    done = read_request(engine, course);
    if (done) done = chart(engine, course, deadline);
  };
  co_await crew.elsewhere(std::move(work));
  co_return done;
}

// With a shorter history where that is due.
Awaitable<Result<void>> compressed(Engine& engine, Crew& crew, Course& course, bool may_ask,
                                   Deadline deadline) {
  CO_TRY_VOID(co_await charted_once(engine, crew, course, deadline));
  while (course.compression_due) {
    co_await compress(engine, crew, course, may_ask, deadline);
    CO_TRY_VOID(co_await charted_once(engine, crew, course, deadline));
  }
  co_return Result<void>();
}

// What earlier replies taught makes plans smaller and never refuses a request: the server may have been
// wrong, or have changed. What was learned for this owner is forgotten then.
bool may_do_without_learned(Engine& engine, Course& course, const Error& error) {
  const std::string& owner = course.ask.caller.owner;
  if (error.code != Errc::over_budget || !course.with_learned ||
      !engine.models.learned(course.berth, owner).holds_back())
    return false;
  course.with_learned = false;
  engine.drift.relax(engine.models.drift_key(course.berth, owner), engine.models.now_ms());
  log::info("planned without what was learned, by which it would not fit",
            {{"trace", course.trace.id}, {"model", course.trace.model}, {"owner", owner}});
  return true;
}

Awaitable<Result<void>> charted(Engine& engine, Crew& crew, Course& course, bool may_ask, Deadline deadline) {
  Result<void> done = co_await compressed(engine, crew, course, may_ask, deadline);
  if (!done && may_do_without_learned(engine, course, done.error()))
    done = co_await compressed(engine, crew, course, may_ask, deadline);
  co_return done;
}

// And counted anew from the server's own rendering where ours differs.
Awaitable<Result<void>> planned(Engine& engine, Crew& crew, Course& course, bool may_ask, Deadline deadline) {
  if (may_ask && course.plans == 0) co_await rewrite_question(engine, crew, course, deadline);
  CO_TRY_VOID(co_await charted(engine, crew, course, may_ask, deadline));
  while (co_await differs_from_the_servers(engine, crew, course, deadline))
    CO_TRY_VOID(co_await charted(engine, crew, course, may_ask, deadline));
  co_return Result<void>();
}

Awaitable<Result<void>> sail(Engine& engine, Crew& crew, Course& course, AnswerSink& client,
                             Deadline deadline) {
  while (true) {
    const auto plan = co_await planned(engine, crew, course, /*may_ask=*/true, deadline);
    if (!plan) {
      const bool small = course.stand_in && plan.error().code == Errc::over_budget;
      if (small && take_stand_in(engine, course, "its window is too small")) continue;
      if (small) co_return fail(Errc::upstream_failed, "{}", course.stand_in->reason);
      co_return plan;
    }
    if (const auto refusal = reserve(engine, course)) co_return co_await turn_away(course, *refusal, client);
    if (should_pack(course)) {
      std::function<void()> work = [&] { pack(course); };
      co_await crew.elsewhere(std::move(work));
    }
    const auto reply = co_await dispatch(engine, crew, course, deadline);
    if (!reply) {
      const bool gone = co_await client_is_gone();
      if (!gone && is_unavailable(reply.error()) &&
          take_stand_in(engine, course, kind_of_failure(reply.error())))
        continue;
      const bool ragengine = engine.rules.kaito_compat && !course.trace.index.empty() && !gone;
      co_return tl::unexpected(ragengine ? ragengine_failure(reply.error().what) : reply.error());
    }
    CO_TRY(const bool answered, co_await relay(engine, course, **reply, client, deadline));
    if (answered || course.sent >= most_sent) co_return Result<void>();
  }
}

}  // namespace

Awaitable<Result<void>> answer(Engine& engine, Crew& crew, Ask ask, AnswerSink& client, Deadline deadline,
                               std::string& trace_id) {
  Course course(std::move(ask), trace_id);
  Result<void> outcome = co_await sail(engine, crew, course, client, deadline);
  close_course(engine, course, outcome);
  co_return outcome;
}

Awaitable<Result<Plan>> plan_only(Engine& engine, Crew& crew, Ask ask, Deadline deadline) {
  Course course(std::move(ask), {});
  Result<void> done = co_await planned(engine, crew, course, /*may_ask=*/false, deadline);
  if (!done && done.error().code != Errc::over_budget) co_return tl::unexpected(done.error());
  co_return std::move(course.plan);
}

}  // namespace plimsoll::engine
