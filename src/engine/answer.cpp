#include "engine/answer.hpp"

#include "base/log.hpp"
#include "base/try.hpp"
#include "engine/history/compress.hpp"
#include "engine/history/rewrite.hpp"
#include "engine/request_state.hpp"
#include "engine/served_format.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

constexpr int most_plans = 12;  // for one request, all reasons together

bool is_small(const Engine& engine, const RequestState& state) {
  return state.ask.body.size() <= engine.rules.planned_at_once_bytes;
}

Awaitable<Result<void>> read(Engine& engine, WorkerContext& worker, RequestState& state) {
  if (is_small(engine, state)) co_return read_request(engine, state);
  Result<void> done;
  std::function<void()> work = [&] { done = read_request(engine, state); };
  co_await worker.elsewhere(std::move(work));
  co_return done;
}

// Adds memories, and makes special tokens in data harmless.
Awaitable<Result<void>> gather(Engine& engine, WorkerContext& worker, RequestState& state,
                               Deadline deadline) {
  if (!has_additions(engine, state)) co_return Result<void>();
  if (is_small(engine, state) && is_quickly_planned(engine, state))
    co_return gather_additions(engine, state, deadline);
  Result<void> done;
  std::function<void()> work = [&] { done = gather_additions(engine, state, deadline); };
  co_await worker.elsewhere(std::move(work));
  co_return done;
}

// Counts, retrieves, plans and renders, on a worker unless that is quick.
Awaitable<Result<Again>> plan_once(Engine& engine, WorkerContext& worker, RequestState& state,
                                   Deadline deadline) {
  if (is_small(engine, state) && is_quickly_planned(engine, state))
    co_return plan_request(engine, state, deadline);
  Result<Again> again;
  std::function<void()> work = [&] {
    unpack(state);
    again = plan_request(engine, state, deadline);
  };
  co_await worker.elsewhere(std::move(work));
  co_return again;
}

// What earlier replies taught makes plans smaller but never refuses a request: the server may have been
// wrong, or may have changed. In that case it is forgotten for this owner.
bool fits_without_learned(Engine& engine, RequestState& state, const Error& error) {
  const std::string& owner = state.ask.caller.owner;
  if (error.code != Errc::over_budget || !state.with_learned ||
      !engine.models.learned(state.location, owner).holds_back())
    return false;
  state.with_learned = false;
  engine.drift.relax(engine.models.drift_key(state.location, owner), engine.models.now_ms());
  log::info("planned without what was learned, by which it would not fit",
            {{"trace", state.trace.id}, {"model", state.trace.model}, {"owner", owner}});
  return true;
}

// Plans until nothing speaks for another plan. `may_ask`: models may be asked for summaries.
Awaitable<Result<void>> plan(Engine& engine, WorkerContext& worker, RequestState& state, bool may_ask,
                             Deadline deadline) {
  for (int plans = 0; plans < most_plans; ++plans) {
    Result<Again> again = co_await plan_once(engine, worker, state, deadline);
    if (!again && fits_without_learned(engine, state, again.error())) again = Replan::without_learned;
    if (!again) co_return tl::unexpected(again.error());
    if (!*again && co_await differs_from_the_servers(engine, worker, state, deadline))
      again = Replan::server_renders_longer;
    if (!*again) co_return Result<void>();
    if (**again == Replan::history_too_long) co_await compress(engine, worker, state, may_ask, deadline);
  }
  co_return fail(Errc::upstream_failed, "no plan after {} attempts; report this with the trace {}",
                 most_plans, state.trace.id);
}

// The error of a plan that failed, unless it was for a stand-in and another one takes over.
Result<Again> after_failed_plan(Engine& engine, RequestState& state, Error error) {
  if (!state.stand_in || error.code != Errc::over_budget) return tl::unexpected(std::move(error));
  if (take_stand_in(engine, state, "its window is too small")) return Replan::server_down;
  return fail(Errc::upstream_failed, "{}", state.stand_in->reason);
}

// The error of a server that did not answer, unless another one takes over.
Awaitable<Result<Again>> after_failed_send(Engine& engine, RequestState& state, Error error) {
  const bool gone = co_await client_is_gone();
  if (!gone && is_unavailable(error) && take_stand_in(engine, state, kind_of_failure(error)))
    co_return Replan::server_down;
  co_return tl::unexpected(gone ? std::move(error) : failure_of(engine, state, std::move(error)));
}

// Plans, sends and relays once. `Again`: the request should be planned and sent once more.
Awaitable<Result<Again>> attempt(Engine& engine, WorkerContext& worker, RequestState& state,
                                 AnswerSink& client, Deadline deadline) {
  const auto planned = co_await plan(engine, worker, state, /*may_ask=*/true, deadline);
  if (!planned) co_return after_failed_plan(engine, state, planned.error());
  if (const auto refusal = reserve(engine, state)) {
    state.is_turned_away = true;
    state.trace.status = status_of_limits;
    state.trace.error = refusal->what;
    CO_TRY_VOID(co_await client.turned_away(state.trace, *refusal));
    co_return std::nullopt;
  }
  if (should_pack(state)) {
    std::function<void()> work = [&] { pack(state); };
    co_await worker.elsewhere(std::move(work));
  }
  const auto reply = co_await dispatch(engine, worker, state, deadline);
  if (!reply) co_return co_await after_failed_send(engine, state, reply.error());
  co_return co_await relay(engine, state, **reply, client, deadline);
}

// Reads the request and what belongs to it, then answers it.
Awaitable<Result<void>> run(Engine& engine, WorkerContext& worker, RequestState& state, AnswerSink& client,
                            Deadline deadline) {
  CO_TRY_VOID(co_await read(engine, worker, state));
  co_await rewrite_question(engine, worker, state, deadline);
  CO_TRY_VOID(co_await gather(engine, worker, state, deadline));
  while (true) {
    CO_TRY(const Again again, co_await attempt(engine, worker, state, client, deadline));
    if (!again || state.sent >= most_sent) co_return Result<void>();
    log::debug("planning again", {{"trace", state.trace.id}, {"why", name_of(*again)}});
  }
}

}  // namespace

std::string_view name_of(Replan why) {
  switch (why) {
    case Replan::history_too_long: return "the history is too long";
    case Replan::without_learned: return "it does not fit by what earlier replies taught";
    case Replan::server_renders_longer: return "the server renders it longer";
    case Replan::overflow: return "the server reported an overflow";
    case Replan::prompt_cut: return "the server cut the prompt";
    case Replan::server_down: return "the server is down";
  }
  return "";
}

Awaitable<Result<void>> answer(Engine& engine, WorkerContext& worker, Ask ask, AnswerSink& client,
                               Deadline deadline, std::string& trace_id) {
  RequestState state(std::move(ask), trace_id);
  Result<void> outcome = co_await run(engine, worker, state, client, deadline);
  close_request(engine, state, outcome);
  co_return outcome;
}

Awaitable<Result<Plan>> plan_only(Engine& engine, WorkerContext& worker, Ask ask, Deadline deadline) {
  RequestState state(std::move(ask), {});
  CO_TRY_VOID(co_await read(engine, worker, state));
  CO_TRY_VOID(co_await gather(engine, worker, state, deadline));
  const auto done = co_await plan(engine, worker, state, /*may_ask=*/false, deadline);
  if (!done && done.error().code != Errc::over_budget) co_return tl::unexpected(done.error());
  co_return std::move(state.plan);
}

}  // namespace plimsoll::engine
