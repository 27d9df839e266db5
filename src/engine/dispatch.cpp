#include <algorithm>

#include "base/log.hpp"
#include "base/try.hpp"
#include "engine/request_state.hpp"

namespace plimsoll::engine {
namespace {

using std::chrono::milliseconds;

constexpr int most_tries = 3;
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_asked_pause{5'000};  // a longer Retry-After is passed on to the client

// What the plan reserves for an answer. Where nobody knows how much the model can write, not more than every
// model of today can: a server refuses a limit that is too high.
Tokens reserved_answer(const RequestState& state) {
  constexpr Tokens of_every_model = 4'096;
  const auto& sections = state.plan.sections;
  const auto answer = std::ranges::find_if(
      sections, [](const PlannedSection& one) { return one.section.kind == SectionKind::answer; });
  const bool is_bounded = answer != sections.end() && answer->section.max < state.trace.window;
  return is_bounded ? state.trace.answer : std::min(state.trace.answer, of_every_model);
}

UpstreamRequest request_for(Engine& engine, const RequestState& state) {
  UpstreamRequest request;
  request.route = state.ask.route;
  request.body = state.outgoing();
  request.model = state.location.model;
  request.owner = state.ask.caller.owner;
  request.stream = state.stream;
  request.refuse_inexpressible = engine.rules.refuse_inexpressible;
  request.answer = reserved_answer(state);
  request.has_anthropic_fields = state.ask.has_anthropic_fields;
  request.longest_answer = engine.rules.max_answer_bytes;
  // A client that asks for a window gets one of that size, if the server can provide it.
  const Tokens needed = state.ask.window_wish ? std::max(state.needs(), state.trace.window) : state.needs();
  request.num_ctx = engine.models.num_ctx_for(state.location, needed);
  return request;
}

// Returns whether the connection was closed before the first byte. It can be retried and does not affect
// other requests.
bool is_dead(const Error& error) {
  return error.code == Errc::io_failed;
}

// None: it answered, or the request was not sent.
std::optional<models::Breakers::Failure> failure_in(const Result<std::unique_ptr<UpstreamReply>>& reply) {
  if (reply)
    return (*reply)->info().took == Took::out_of_service ? std::optional(models::Breakers::Failure::reply)
                                                         : std::nullopt;
  if (reply.error().code == Errc::bad_input) return std::nullopt;
  return reply.error().code == Errc::unreachable ? models::Breakers::Failure::connection
                                                 : models::Breakers::Failure::reply;
}

// Returns how long to wait before a retry; none: do not retry.
std::optional<milliseconds> pause_after(const Result<std::unique_ptr<UpstreamReply>>& reply, int tries) {
  const milliseconds pause = first_pause * (1 << (2 * (tries - 1)));
  // Does not retry once the server has started to answer: it would repeat the work.
  if (!reply) {
    const bool may_help = reply.error().code == Errc::unreachable || is_dead(reply.error());
    return may_help ? std::optional(pause) : std::nullopt;
  }
  const ReplyInfo& info = (*reply)->info();
  if (info.took != Took::limited && info.took != Took::out_of_service) return std::nullopt;
  if (!info.retry_after) return info.took == Took::limited ? std::nullopt : std::optional(pause);
  if (*info.retry_after > longest_asked_pause) return std::nullopt;
  return std::max(*info.retry_after, first_pause);
}

void note_attempt(RequestState& state, const Result<std::unique_ptr<UpstreamReply>>& reply,
                  std::int64_t begin) {
  const int status = reply ? (*reply)->info().head.status : 0;
  TraceAttempt attempt{state.trace.upstream, state.trace.model,           status, {},
                       state.trace.window,   state.microseconds() - begin};
  attempt.outcome = !reply                                   ? reply.error().what
                    : (*reply)->info().took == Took::answers ? "answered"
                                                             : fmt::format("status {}", status);
  state.trace.attempts.push_back(std::move(attempt));
}

tl::unexpected<Error> nobody_waits() {
  return fail(Errc::unreachable, "the client disconnected before the answer");
}

}  // namespace

Error explain_late(const RequestState& state, Deadline deadline, Error error, std::string_view setting) {
  if (error.code != Errc::timed_out) return error;
  if (!deadline.passed()) {
    error.what += fmt::format(" ({})", setting);
    return error;
  }
  const std::chrono::duration<double> whole = deadline.moment() - state.begun;
  error.what = fmt::format(
      "the upstream '{}' did not finish its answer within {:.3g} s (request_timeout_seconds); ask for less, "
      "or "
      "let the operator raise the setting",
      state.trace.upstream, whole.count());
  return error;
}

Awaitable<bool> client_is_gone() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  co_return state.cancelled() != boost::asio::cancellation_type::none;
}

Awaitable<Result<std::unique_ptr<UpstreamReply>>> dispatch(Engine& engine, WorkerContext& worker,
                                                           RequestState& state, Deadline deadline) {
  UpstreamLink& link = worker.link(state.location.member);
  const std::string& owner = state.ask.caller.owner;
  for (int tries = 1;; ++tries) {
    if (co_await client_is_gone()) co_return nobody_waits();
    if (const auto closed = engine.breakers.closed_for(state.location, owner, engine.now()))
      co_return fail(Errc::unreachable,
                     "the upstream '{}' has failed repeatedly for {}; it is tried again in {:.1f} s",
                     state.trace.upstream, state.trace.model, std::chrono::duration<double>(*closed).count());
    if (tries == 1) ++state.sent;  // only if the server is really contacted
    const std::int64_t begin = state.microseconds();
    UpstreamRequest request = request_for(engine, state);
    auto reply =
        co_await link.send(std::move(request), sooner(deadline, Deadline::after(engine.rules.first_byte)));
    note_attempt(state, reply, begin);
    state.left = co_await client_is_gone();
    if (state.left) co_return nobody_waits();  // not the server's fault
    if (const auto failure = failure_in(reply)) {
      engine.breakers.failed(state.location, owner, *failure, engine.now());
    } else {
      engine.breakers.succeeded(state.location, owner);
      engine.models.heard_from(state.location);
    }
    const auto pause = pause_after(reply, tries);
    if (!pause || tries == most_tries || deadline.left() <= *pause) {
      if (reply) co_return reply;
      Error error = explain_late(state, deadline, std::move(reply).error(), "first_byte_timeout_seconds");
      if (is_dead(error)) error.code = Errc::unreachable;  // the same for a client
      co_return tl::unexpected(std::move(error));
    }
    ++engine.counters.retries;
    log::info("asking the upstream again", {{"trace", state.trace.id},
                                            {"upstream", state.trace.upstream},
                                            {"why", state.trace.attempts.back().outcome},
                                            {"try", tries + 1}});
    reply = fail(Errc::upstream_failed, "given up");  // closes the connection before the pause
    co_await worker.pause(*pause);
  }
}

}  // namespace plimsoll::engine
