#include <algorithm>

#include "base/log.hpp"
#include "base/text/trace_context.hpp"
#include "base/try.hpp"
#include "engine/client_gone.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {
namespace {

using std::chrono::milliseconds;

constexpr int most_tries = 3;
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_asked_pause{5'000};  // a longer Retry-After is passed on to the client

// What the plan reserves for an answer. Where nobody knows how much the model can write, not more than every
// model of today can: a server refuses a limit that is too high.
Tokens reserved_answer(const Planned& planned) {
  constexpr Tokens of_every_model = 4'096;
  const auto& sections = planned.plan.sections;
  const auto answer = std::ranges::find_if(
      sections, [](const PlannedSection& one) { return one.section.kind == SectionKind::answer; });
  const Figures& figures = planned.figures;
  const bool is_bounded = answer != sections.end() && answer->section.max < figures.window;
  return is_bounded ? figures.answer : std::min(figures.answer, of_every_model);
}

UpstreamRequest request_for(const Engine& engine, const Sendable& one) {
  const Ask& ask = one.received.ask;
  const Planned& planned = one.planned;
  UpstreamRequest request;
  request.kind = ask.kind;
  if (goes_native(engine, one))
    request.native = ask.native->request;
  else
    request.body = planned.outgoing(one.received);
  request.model = planned.location.model;
  request.owner = one.received.owner();
  request.stream = one.request.chat.streams;
  request.refuse_inexpressible = engine.rules.refuse_inexpressible;
  request.answer = reserved_answer(planned);
  request.has_anthropic_fields = ask.has_anthropic_fields;
  request.longest_answer = engine.rules.max_answer_bytes;
  // A client that asks for a window gets one of that size, if the server can provide it.
  const Tokens needs = planned.figures.needs();
  const Tokens needed = ask.window_wish ? std::max(needs, planned.figures.window) : needs;
  request.load_window = engine.models.window_to_load(planned.location, needed);
  return request;
}

// Returns whether the connection was closed before the first byte. It can be retried and does not affect
// other requests.
bool is_dead(const Error& error) {
  return error.code == Errc::io_failed;
}

// Returns whether it answered, and we had no memory for the answer.
bool is_ours(const Error& error) {
  return error.code == Errc::over_budget;
}

// None: it answered, or the request was not sent.
std::optional<models::Breakers::Failure> failure_in(const Result<std::unique_ptr<UpstreamReply>>& reply) {
  if (reply)
    return (*reply)->info().took == Took::out_of_service ? std::optional(models::Breakers::Failure::reply)
                                                         : std::nullopt;
  if (reply.error().code == Errc::bad_input || is_ours(reply.error())) return std::nullopt;
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

std::string_view provider_of(const Engine& engine, std::size_t member) {
  const models::Upstreams& upstreams = engine.models.upstreams();
  return upstreams.is_embedded(member) ? "plimsoll" : name_of(upstreams.kind_of(member));
}

TraceAttempt attempt_of(const Sendable& one, const Result<std::unique_ptr<UpstreamReply>>& reply,
                        std::int64_t begin) {
  TraceAttempt attempt;
  attempt.began_us = begin;
  attempt.upstream = one.planned.upstream;
  attempt.model = one.planned.model;
  attempt.window = one.planned.figures.window;
  attempt.took_us = one.received.microseconds() - begin;
  if (reply) attempt.code = (*reply)->info().code;
  attempt.outcome = reply ? (*reply)->info().outcome : reply.error().what;
  return attempt;
}

tl::unexpected<Error> nobody_waits() {
  return fail(Errc::unreachable, "the client disconnected before the answer");
}

}  // namespace

Error explain_late(const Received& received, const Planned& planned, Deadline deadline, Error error,
                   std::string_view setting) {
  if (is_ours(error)) error.code = Errc::unreachable;  // to come back later helps
  if (error.code != Errc::timed_out) return error;
  if (!deadline.passed()) {
    error.what += fmt::format(" ({})", setting);
    return error;
  }
  const std::chrono::duration<double> whole = deadline.moment() - received.begun;
  error.what = fmt::format(
      "the upstream '{}' did not finish its answer within {:.3g} s (request_timeout_seconds); ask for less, "
      "or "
      "let the operator raise the setting",
      planned.upstream, whole.count());
  return error;
}

Awaitable<Sent> dispatch(Engine& engine, WorkerContext& worker, const Sendable& one, Deadline deadline) {
  const Planned& planned = one.planned;
  UpstreamLink& link = worker.link(planned.location.member);
  const std::string& owner = one.received.owner();
  Sent sent;
  for (int tries = 1;; ++tries) {
    if (co_await client_is_gone()) {
      sent.reply = nobody_waits();
      co_return sent;
    }
    if (const auto closed = engine.breakers.closed_for(planned.location, owner, engine.now())) {
      sent.reply = fail(Errc::unreachable,
                        "the upstream '{}' has failed repeatedly for {}; it is tried again in {:.1f} s",
                        planned.upstream, planned.model, std::chrono::duration<double>(*closed).count());
      co_return sent;
    }
    const std::int64_t begin = one.received.microseconds();
    UpstreamRequest request = request_for(engine, one);
    request.resources = &worker;
    request.context = one.received.context;
    if (one.received.sends_spans) request.context.span_id = base::new_span_id();
    std::string span = one.received.sends_spans ? request.context.span_id : std::string();
    sent.reply =
        co_await link.send(std::move(request), sooner(deadline, Deadline::after(engine.rules.first_byte)));
    sent.attempts.push_back(attempt_of(one, sent.reply, begin));
    sent.attempts.back().span_id = std::move(span);
    sent.attempts.back().provider = provider_of(engine, planned.location.member);
    sent.left = co_await client_is_gone();
    if (sent.left) {  // not the server's fault
      sent.reply = nobody_waits();
      co_return sent;
    }
    if (const auto failure = failure_in(sent.reply)) {
      engine.breakers.failed(planned.location, owner, *failure, engine.now());
    } else if (!sent.reply && sent.reply.error().code == Errc::bad_input) {
      engine.breakers.not_asked(planned.location, owner, engine.now());
    } else {
      engine.breakers.succeeded(planned.location, owner);
      engine.models.heard_from(planned.location);
    }
    const auto pause = pause_after(sent.reply, tries);
    if (!pause || tries == most_tries || deadline.left() <= *pause) {
      if (sent.reply) co_return sent;
      sent.lacks_memory = is_ours(sent.reply.error());
      Error error = explain_late(one.received, planned, deadline, std::move(sent.reply).error(),
                                 "first_byte_timeout_seconds");
      if (is_dead(error)) error.code = Errc::unreachable;  // the same for a client
      sent.reply = tl::unexpected(std::move(error));
      co_return sent;
    }
    ++engine.counters.retries;
    log::info("asking the upstream again", {{"trace", one.received.trace_id},
                                            {"upstream", planned.upstream},
                                            {"why", sent.attempts.back().outcome},
                                            {"try", tries + 1}});
    sent.reply = fail(Errc::upstream_failed, "given up");  // closes the connection before the pause
    co_await worker.pause(*pause);
  }
}

}  // namespace plimsoll::engine
