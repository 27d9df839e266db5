#include "engine/answer.hpp"

#include <algorithm>

#include "base/json/here_or_elsewhere.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "engine/client_gone.hpp"
#include "engine/history/compress.hpp"
#include "engine/history/recall_turns.hpp"
#include "engine/history/rewrite.hpp"
#include "engine/record.hpp"
#include "engine/served_format.hpp"
#include "engine/shown_prompt.hpp"
#include "engine/stages.hpp"
#include "engine/stand_in.hpp"

namespace plimsoll::engine {
namespace {

using Again = std::optional<Replan>;  // none: it is done

constexpr int most_plans = 12;  // for one request, all reasons together

// Calls the stages of one request in order, and keeps their values.
class Answering {
 public:
  Answering(Engine& engine, WorkerContext& worker, const Received& received, Deadline deadline)
      : engine_(engine),
        worker_(worker),
        received_(received),
        deadline_(deadline),
        is_small_(received.ask.body.size() <= base::most_bytes_at_once),
        trace_(begun_trace(received)) {}

  Awaitable<Result<void>> answer(AnswerSink& client) {
    CO_TRY_VOID(co_await read_and_route());
    if (engine_.feed != nullptr) engine_.feed->add_begun(trace_);
    if (lacks_window()) co_await find_window(engine_, worker_, attempt_.location, deadline_);
    co_await rewrite();
    CO_TRY_VOID(co_await gather());
    while (true) {
      CO_TRY(const Again again, co_await attempt(client));
      if (!again) co_return Result<void>();
      log::debug("planning again", {{"trace", received_.trace_id}, {"why", name_of(again->why)}});
      attempt_ = again->next;
    }
  }

  Awaitable<Result<Plan>> plan_only() {
    CO_TRY_VOID(co_await read_and_route());
    if (lacks_window()) co_await find_window(engine_, worker_, attempt_.location, deadline_);
    CO_TRY_VOID(co_await gather());
    const auto done = co_await plan(/*may_ask=*/false);
    const auto give_back = [this] {
      request_ = {};
      return true;
    };
    (void)co_await here_or_elsewhere(is_small_, give_back);  // to free much takes long
    if (!done && done.error().code != Errc::over_budget) co_return tl::unexpected(done.error());
    co_return std::move(planned_.plan);
  }

  Awaitable<Result<PlanWithPrompt>> plan_with_prompt() {
    PlanWithPrompt shown;
    CO_TRY(shown.plan, co_await plan_only());
    std::function<void()> rendering = [&] {
      shown.prompt = shown_prompt(engine_, received_, planned_, deadline_);
    };
    co_await worker_.elsewhere(std::move(rendering));
    co_return shown;
  }

  Awaitable<void> close(const Result<void>& outcome) {
    const auto work = [&] {
      Ended ended{received_, planned_, request_.recalled, std::move(trace_), std::move(spent_)};
      close_request(engine_, std::move(ended), outcome);
      request_ = {};
      planned_ = {};
      return true;
    };
    (void)co_await here_or_elsewhere(is_small_, work);  // to write and free much takes long
  }

 private:
  // Plans, sends and relays once. `Again`: the request should be planned and sent once more.
  Awaitable<Result<Again>> attempt(AnswerSink& client) {
    const auto done = co_await plan(/*may_ask=*/true);  // counts, retrieves, plans, renders
    if (!done) co_return after_failed_plan(done.error());
    const Sendable one{received_, request_, attempt_, planned_};
    if (const auto refusal = co_await reserve_share()) {
      CO_TRY_VOID(co_await client.turned_away(trace_, *refusal));
      co_return std::nullopt;
    }
    co_await pack_request();
    Sent sent = co_await dispatch(engine_, worker_, one, deadline_);
    if (!sent.attempts.empty()) ++attempt_.sent;
    trace_.attempts.insert(trace_.attempts.end(), sent.attempts.begin(), sent.attempts.end());
    spent_.left = sent.left;
    if (!sent.reply) co_return co_await after_failed_send(std::move(sent));
    Outcome outcome =
        co_await relay(engine_, worker_, one, std::move(trace_), **sent.reply, client, deadline_);
    trace_ = std::move(outcome.trace);  // reconciled
    spent_.streamed = outcome.streamed;
    spent_.left = outcome.left;
    if (!outcome.done) co_return tl::unexpected(outcome.done.error());
    co_return std::move(outcome.again);
  }

  Awaitable<Result<void>> read_and_route() {
    const auto work = [this] { return read_on_this_thread(); };
    // MODEL+INDEX may be looked up in the store.
    const bool may_wait = engine_.reserve_waits && received_.ask.body.find('+') != std::string::npos;
    co_return co_await here_or_elsewhere(is_small_ && !may_wait, work);
  }
  Result<void> read_on_this_thread() {
    TRY(chat::ChatRequest chat, read_request(received_));
    record(chat, received_, trace_);
    TRY(request_, resolve(engine_, received_, std::move(chat)));
    record(request_, trace_);
    record(request_.notes, trace_, spent_);
    TRY(Routed routed, route(engine_, std::move(request_)));
    request_ = std::move(routed.request);
    attempt_ = std::move(routed.first);
    return {};
  }

  Awaitable<void> rewrite() {
    Rewritten rewritten =
        co_await rewrite_question(engine_, worker_, received_, request_, attempt_, deadline_);
    request_.rewritten = std::move(rewritten.question);
    record(rewritten.notes, trace_, spent_);
  }

  // Adds memories, and escapes special tokens in data.
  Awaitable<Result<void>> gather() {
    if (!has_additions(engine_, received_, request_)) co_return Result<void>();
    const auto work = [this] {
      return gather_additions(engine_, received_, std::move(request_), attempt_, deadline_);
    };
    CO_TRY(request_, co_await here_or_elsewhere(is_quick(), work));
    record(request_.notes, trace_, spent_);
    co_return Result<void>();
  }

  // Plans until there is no reason for another plan. `may_ask`: models may be asked for summaries.
  Awaitable<Result<void>> plan(bool may_ask) {
    for (int plans = 0; plans < most_plans; ++plans) {
      Result<Again> again = co_await plan_once();
      if (!again) again = without_learned(again.error());
      if (!again) again = with_window_of_now(again.error());
      if (!again) co_return tl::unexpected(again.error());
      if (!*again) again = co_await compare();
      if (!*again) co_return Result<void>();
      attempt_ = (*again)->next;
      const Replan::Reason why = (*again)->why;
      if (why == Replan::Reason::history_too_long) co_await shorten(may_ask);
      if (why == Replan::Reason::turns_left_out) co_await bring_back();
    }
    co_return fail(Errc::upstream_failed, "no plan after {} attempts; report this with the trace {}",
                   most_plans, received_.trace_id);
  }

  Awaitable<Result<Again>> plan_once() {
    // A stand-in's, or a doubted one.
    if (lacks_window()) co_await find_window(engine_, worker_, attempt_.location, deadline_);
    if (!request_.packed.empty()) CO_TRY_VOID(co_await worker_.begin_plan(deadline_));
    const auto work = [this] {
      request_ = unpack(std::move(request_));
      return plan_request(engine_, received_, request_, attempt_, deadline_);
    };
    CO_TRY(PlanStep step, co_await here_or_elsewhere(is_quick(), work));
    forget_warnings_of_plan();
    of_plan_ = step.notes.warnings;
    record(step.notes, trace_, spent_);
    attempt_.found = std::move(step.found);
    planned_ = std::move(step.planned);
    if (step.again) co_return Replan{*step.again, attempt_};
    record(planned_, trace_);
    if (received_.is_chat()) trace_.plan_us = received_.microseconds() - trace_.retrieve_us;
    if (planned_.refusal) co_return tl::unexpected(*planned_.refusal);
    co_return std::nullopt;
  }

  // Compares the plan's count with the server's rendering.
  Awaitable<Again> compare() {
    Compared compared = co_await compare_rendering(engine_, worker_, received_, request_, attempt_,
                                                   std::move(planned_), deadline_);
    planned_ = std::move(compared.planned);
    record(planned_, trace_);
    record(compared.notes, trace_, spent_);
    co_return std::move(compared.again);
  }

  Awaitable<void> shorten(bool may_ask) {
    take(co_await compress(engine_, worker_, received_, std::move(request_), std::move(attempt_),
                           planned_.plan, may_ask, deadline_));
  }
  Awaitable<void> bring_back() {
    take(co_await recall_turns(engine_, worker_, received_, std::move(request_), std::move(attempt_),
                               planned_.plan, deadline_));
  }
  void take(Prepared prepared) {
    request_ = std::move(prepared.request);
    attempt_ = std::move(prepared.next);
    record(request_.notes, trace_, spent_);
  }

  // What earlier replies taught makes plans smaller but never refuses a request: the server may have been
  // wrong, or may have changed. In that case it is forgotten for this owner. Returns other errors.
  Result<Again> without_learned(Error error) {
    const std::string& owner = received_.owner();
    const models::ModelLocation& location = attempt_.location;
    if (error.code != Errc::over_budget || !attempt_.with_learned ||
        !engine_.models.learned(location, owner).holds_back())
      return tl::unexpected(std::move(error));
    engine_.drift.relax(engine_.models.drift_key(location, owner), engine_.models.now_ms());
    log::info("planned without what was learned, by which it would not fit",
              {{"trace", received_.trace_id}, {"model", trace_.model}, {"owner", owner}});
    Replan replan{Replan::Reason::without_learned, attempt_};
    replan.next.with_learned = false;
    return replan;
  }

  // No request is refused by a window that the server named a while ago: it is asked again, once.
  Result<Again> with_window_of_now(Error error) {
    if (error.code != Errc::over_budget || attempt_.asked_window ||
        !engine_.models.doubt_window(attempt_.location))
      return tl::unexpected(std::move(error));
    Replan replan{Replan::Reason::window_doubted, attempt_};
    replan.next.asked_window = true;
    return replan;
  }

  // Returns the error of a plan that failed, unless it was for a stand-in and another one takes over.
  Result<Again> after_failed_plan(Error error) {
    if (!attempt_.stand_in || error.code != Errc::over_budget) return tl::unexpected(std::move(error));
    Again again = take_stand_in(engine_, received_, request_, attempt_, trace_, attempt_.location,
                                "its window is too small");
    if (again) return again;
    return fail(Errc::upstream_failed, "{}", attempt_.stand_in->reason);
  }

  // Returns the error of a server that did not answer, unless another one takes over.
  Awaitable<Result<Again>> after_failed_send(Sent sent) {
    Error error = std::move(sent.reply).error();
    if (co_await client_is_gone()) co_return tl::unexpected(std::move(error));
    if (!sent.lacks_memory && is_unavailable(error)) {
      Again again = take_stand_in(engine_, received_, request_, attempt_, trace_, planned_.location,
                                  kind_of_failure(error));
      if (again) co_return again;
    }
    co_return tl::unexpected(failure_of(engine_, request_, std::move(error)));
  }

  // Reserves what the plan takes in place of what the plan before it took.
  Awaitable<std::optional<Refusal>> reserve_share() {
    const bool is_at_once = (is_small_ && !engine_.reserve_waits) || !received_.ask.caller.metered;
    const auto work = [this] {
      spent_.reserved.reset();
      return reserve(engine_, received_, request_, planned_);
    };
    auto reserved = co_await here_or_elsewhere(is_at_once, work);
    if (!reserved) {
      const bool is_limit = reserved.error().kind == Refusal::Kind::limit;
      spent_.is_turned_away = true;
      trace_.code = is_limit ? code_of_limits : reply_code(Errc::unreachable);
      trace_.error = reserved.error().what;
      co_return reserved.error();
    }
    spent_.reserved = std::move(reserved->held);
    spent_.allowed_answer = reserved->allowed_answer;
    if (!reserved->limited) co_return std::nullopt;
    planned_ = *std::move(reserved->limited);
    record(planned_, trace_);
    if (reserved->warning.empty()) co_return std::nullopt;
    of_plan_.push_back(reserved->warning);
    trace_.warnings.push_back(std::move(reserved->warning));
    co_return std::nullopt;
  }

  // Another plan says anew what is true of it.
  void forget_warnings_of_plan() {
    for (const std::string& warning : of_plan_)
      if (const auto found = std::ranges::find(trace_.warnings, warning); found != trace_.warnings.end())
        trace_.warnings.erase(found);
  }

  Awaitable<void> pack_request() {
    if (should_pack(received_, request_)) {
      std::function<void()> work = [this] { request_ = pack(std::move(request_)); };
      co_await worker_.elsewhere(std::move(work));
    }
    worker_.end_plan();
  }

  bool lacks_window() const { return engine_.models.asks_server(attempt_.location); }
  bool is_quick() const { return is_small_ && is_quickly_planned(engine_, received_, request_, attempt_); }

  template <typename Work>
  Awaitable<std::invoke_result_t<Work>> here_or_elsewhere(bool is_quick, Work work) {
    return base::here_or_elsewhere(&worker_, is_quick, std::move(work));
  }

  Engine& engine_;
  WorkerContext& worker_;
  const Received& received_;
  const Deadline deadline_;
  const bool is_small_;

  Request request_;
  Attempt attempt_;
  Planned planned_;                   // the last plan
  std::vector<std::string> of_plan_;  // those of the trace's warnings that the last plan gave
  Trace trace_;
  Spent spent_;
};

}  // namespace

std::string_view name_of(Replan::Reason why) {
  switch (why) {
    case Replan::Reason::history_too_long: return "the history is too long";
    case Replan::Reason::turns_left_out: return "older turns are looked through for the question";
    case Replan::Reason::without_learned: return "it does not fit by what earlier replies taught";
    case Replan::Reason::window_doubted: return "the server is asked for its window again";
    case Replan::Reason::server_renders_longer: return "the server renders it longer";
    case Replan::Reason::overflow: return "the server reported an overflow";
    case Replan::Reason::prompt_cut: return "the server cut the prompt";
    case Replan::Reason::server_down: return "the server is down";
  }
  return "";
}

Awaitable<void> find_window(const Engine& engine, WorkerContext& worker, models::ModelLocation location,
                            Deadline deadline) {
  if (!engine.models.asks_server(location)) co_return;
  std::function<void()> ask = [&] { (void)engine.models.open(location, deadline); };
  co_await worker.wait_elsewhere(std::move(ask));
}

Awaitable<Result<void>> answer(Engine& engine, WorkerContext& worker, Ask ask, AnswerSink& client,
                               Deadline deadline, std::string& trace_id) {
  std::optional<TraceContext> own_span;
  if (engine.spans != nullptr) own_span = engine.spans->begin(ask.caller.context);
  const Received received(std::move(ask), trace_id, std::move(own_span));
  Answering answering(engine, worker, received, deadline);
  Result<void> outcome = co_await answering.answer(client);
  co_await answering.close(outcome);
  co_return outcome;
}

Awaitable<Result<Plan>> plan_only(Engine& engine, WorkerContext& worker, Ask ask, Deadline deadline) {
  const Received received(std::move(ask), {});
  Answering answering(engine, worker, received, deadline);
  co_return co_await answering.plan_only();
}

Awaitable<Result<PlanWithPrompt>> plan_with_prompt(Engine& engine, WorkerContext& worker, Ask ask,
                                                   Deadline deadline) {
  const Received received(std::move(ask), {});
  Answering answering(engine, worker, received, deadline);
  co_return co_await answering.plan_with_prompt();
}

}  // namespace plimsoll::engine
