#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/annotate.hpp"
#include "engine/evidence/protect.hpp"
#include "engine/reply.hpp"
#include "engine/request_state.hpp"
#include "engine/stand_in.hpp"
#include "ledger/reconcile.hpp"
#include "window/overflow.hpp"

namespace plimsoll::engine {
namespace {

Deadline soon(const Engine& engine, Deadline deadline) {
  return sooner(deadline, Deadline::after(engine.rules.idle));
}

tl::unexpected<Error> too_long(const Engine& engine) {
  return fail(Errc::upstream_failed, "the answer of the upstream is longer than {} (max_answer_bytes)",
              base::human_bytes(engine.rules.max_answer_bytes));
}

// The rest of a reply, no more of it than the limit.
Awaitable<Result<std::string>> read_all(const Engine& engine, HttpStream& reply, Deadline deadline) {
  std::string body;
  while (true) {
    CO_TRY(const std::string_view bytes, co_await reply.read(soon(engine, deadline)));
    if (bytes.empty()) co_return body;
    if (body.size() + bytes.size() > engine.rules.max_answer_bytes) co_return too_long(engine);
    body += bytes;
  }
}

// Whether the upstream says that the prompt was too long; then its window is known better from now on, and
// there is a plan worth making.
bool teaches(Engine& engine, RequestState& state, int status, std::string_view body) {
  const auto overflow = window::read_overflow(status, body);
  if (!overflow) return false;
  const Tokens planned = state.trace.window;
  // Where it does not say how large it is: surely no larger than what it refused.
  const Trace& trace = state.trace;
  const Tokens window =
      overflow->window.value_or(std::min(planned, trace.input + trace.thinking + trace.answer) - 1);
  // A server that repeats what it was sent would be taught by whoever writes to it.
  if (window < models::WindowSigns::least_believed || repeats_request(state, overflow->said) ||
      holds_words(state, overflow->words))
    return false;
  if (!state.trace.attempts.empty())
    state.trace.attempts.back().outcome =
        fmt::format("overflow: the window is {}", base::with_thousands(window));
  log::warning("upstream overflow", {{"trace", state.trace.id},
                                     {"model", state.trace.model},
                                     {"planned_window", planned},
                                     {"window", window},
                                     {"said", for_the_record(engine, state, overflow->said)}});
  // An Ollama means the window that it was asked to load, and can be asked for a larger one.
  if (is_chat(state) && engine.models.raise_window(state.location)) {
    ++engine.counters.overflows;
    return state.sent == 1;
  }
  if (window >= planned) return false;
  const bool plausible = engine.models.window_signs().refused(state.location, state.ask.caller.owner,
                                                              state.ask.body, window, engine.models.now_ms());
  if (!plausible) return false;
  state.told_window = {state.location, window};
  ++engine.counters.overflows;
  return state.sent == 1;
}

// No text has more tokens than bytes. What a server adds of its own and what stands for pictures is counted
// generously: a report beyond that says nothing of the request.
bool can_have_read(const RequestState& state, Tokens read) {
  constexpr Tokens of_the_server = 4'096;
  return read <= static_cast<Tokens>(state.outgoing().size()) + state.trace.input + of_the_server;
}

void learn(Engine& engine, RequestState& state, Tokens drift) {
  const Trace& trace = state.trace;
  const Tokens read = trace.input + drift;
  const std::int64_t now = engine.models.now_ms();
  if (!can_have_read(state, read)) {
    log::warning("usage ignored: more tokens than the request can have", {{"trace", trace.id},
                                                                          {"upstream", trace.upstream},
                                                                          {"model", trace.model},
                                                                          {"planned", trace.input},
                                                                          {"reported", read}});
    return;
  }
  engine.drift.learn(engine.models.drift_key(state.location, state.ask.caller.owner), drift, now);
  engine.models.window_signs().accepted(state.location, std::min(read, trace.input), now);
}

// What was read against what was planned.
void reconcile(Engine& engine, RequestState& state, const ReplyFacts& facts) {
  Trace& trace = state.trace;
  trace.usage = facts.usage;
  trace.finish_reason = facts.finish_reason;
  if (trace.input == 0) return;  // nothing was counted
  const auto seen = ledger::reconcile({trace.input, trace.margin, trace.exactness}, facts.usage);
  trace.drift = seen.drift;
  trace.cut = seen.cut;
  if (seen.drift && seen.cut == 0) learn(engine, state, *seen.drift);
  if (seen.cut > 0)
    log::warning("upstream cut the prompt", {{"trace", trace.id},
                                             {"upstream", trace.upstream},
                                             {"model", trace.model},
                                             {"planned", trace.input},
                                             {"cut_tokens", seen.cut}});
}

// By its ends alone: what is between them is the client's to read.
bool is_whole_object(std::string_view body) {
  body = base::trim(body);
  return body.starts_with('{') && body.ends_with('}');
}

Awaitable<Result<Again>> hand_over(RequestState& state, const ReplyHead& from, std::string body,
                                   AnswerSink& client) {
  AnswerHead head = answer_head(state, from);
  head.length = body.size();
  state.trace.status = head.status;
  CO_TRY_VOID(co_await client.head(head));
  CO_TRY_VOID(co_await client.body(body));
  co_return std::nullopt;
}

Awaitable<Result<Again>> relay_plain(Engine& engine, RequestState& state, HttpStream& reply,
                                     AnswerSink& client, Deadline deadline) {
  auto read = co_await read_all(engine, reply, deadline);
  if (!read) {
    const bool gone = co_await client_is_gone();
    state.left = gone && reply.head().status < 400;  // what it had begun is used all the same
    co_return tl::unexpected(explain_late(state, deadline, std::move(read).error(), "idle_timeout_seconds"));
  }
  std::string body = *std::move(read);
  if (reply.head().status >= 400) {
    const int status = reply.head().status;
    if (teaches(engine, state, status, body)) co_return Replan::overflow;
    if (is_unavailable(status) && take_stand_in(engine, state, fmt::format("status {}", status)))
      co_return Replan::server_down;
    std::string said = said_in_error(body);
    if (engine.rules.kaito_compat && !state.trace.index.empty()) {
      state.trace.error = for_the_record(engine, state, said);
      co_return tl::unexpected(ragengine_failure(said));
    }
    body = with_detail(std::move(body), said);
    state.trace.error = for_the_record(engine, state, std::move(said));
    co_return co_await hand_over(state, reply.head(), std::move(body), client);
  }
  if (is_chat(state) && !is_whole_object(body))
    co_return fail(
        Errc::upstream_failed,
        "the upstream '{}' answered with {} bytes that are not a whole JSON object; ask again, or see "
        "its log",
        state.trace.upstream, body.size());
  reconcile(engine, state, read_reply(body));
  if (state.trace.cut > 0 && !state.raised && is_chat(state) && engine.models.raise_window(state.location)) {
    state.raised = true;
    state.trace.attempts.back().outcome =
        fmt::format("the upstream cut {} tokens", base::with_thousands(state.trace.cut));
    state.trace.cut = 0;
    co_return Replan::prompt_cut;
  }
  if (state.is_annotated())
    body = with_fields(body, annotation(state));
  else if (engine.rules.kaito_compat && is_chat(state))
    body = with_fields(body, R"("source_nodes":null)");
  co_return co_await hand_over(state, reply.head(), std::move(body), client);
}

// Reads until one whole event is there: an error may hide in it.
Awaitable<Result<std::string>> first_event(const Engine& engine, HttpStream& reply, Deadline deadline) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  std::string begin;
  while (first_event_end(begin) == 0) {
    CO_TRY(const std::string_view bytes, co_await reply.read(soon(engine, deadline)));
    if (bytes.empty()) break;
    begin += bytes;
    if (begin.size() > longest) break;
  }
  co_return begin;
}

Awaitable<Result<Again>> relay_stream(Engine& engine, RequestState& state, HttpStream& reply,
                                      AnswerSink& client, Deadline deadline) {
  auto came = co_await first_event(engine, reply, deadline);
  if (!came) {
    state.left = co_await client_is_gone();  // the server has read the prompt all the same
    co_return tl::unexpected(explain_late(state, deadline, std::move(came).error(), "idle_timeout_seconds"));
  }
  const std::string begin = *std::move(came);
  state.trace.first_byte_us = state.microseconds();
  const std::string_view first = data_of(std::string_view(begin).substr(0, first_event_end(begin)));
  if (first.find("\"error\"") != std::string_view::npos && read_reply(first).is_error) {
    if (teaches(engine, state, 200, first)) co_return Replan::overflow;
    const std::string said = said_in_error(first);
    state.trace.error = for_the_record(engine, state, said);
    co_return fail(Errc::upstream_failed, "the upstream answered with an error: {}", said);
  }
  // A cut shows in the usage, behind everything else: then there is something to tell after all.
  EventRelay events({state.is_annotated(), state.hides_usage, /*told_late=*/true});
  const EventRelay::Fields fields = [&] {
    reconcile(engine, state, events.facts());
    return state.is_annotated() ? annotation(state) : std::string();
  };
  AnswerHead head = answer_head(state, reply.head());
  head.headers.push_back({"Cache-Control", "no-cache"});
  state.trace.status = head.status;
  CO_TRY_VOID(co_await client.head(head));
  Result<std::string_view> bytes = std::string_view(begin);
  while (bytes && !bytes->empty()) {
    const std::string_view out = events.pass(*bytes, fields);
    state.streamed = events.chunks();
    if (!out.empty()) CO_TRY_VOID(co_await client.body(out));
    bytes = co_await reply.read(soon(engine, deadline));
    if (events.waiting() > engine.rules.max_answer_bytes) bytes = too_long(engine);
  }
  if (!bytes) {  // the head is out: all that can be said is said in the stream
    const Error error = explain_late(state, deadline, bytes.error(), "idle_timeout_seconds");
    state.trace.error = error.what;
    const std::string event = error_event(error);
    CO_TRY_VOID(co_await client.body(event));
    co_return std::nullopt;
  }
  const std::string_view rest = events.finish(fields);
  if (!rest.empty()) CO_TRY_VOID(co_await client.body(rest));
  if (!state.trace.drift) reconcile(engine, state, events.facts());
  co_return std::nullopt;
}

}  // namespace

Awaitable<Result<Again>> relay(Engine& engine, RequestState& state, HttpStream& reply, AnswerSink& client,
                               Deadline deadline) {
  const std::string_view left_out = reply.head().header("x-plimsoll-left-out");
  if (!left_out.empty()) {
    state.trace.warnings.push_back(fmt::format("the upstream's API cannot express {}; left out", left_out));
    state.trace.changed = true;  // so that the client is told
  }
  const bool streams =
      reply.head().status < 400 && reply.head().header("content-type").starts_with("text/event-stream");
  if (streams) return relay_stream(engine, state, reply, client, deadline);
  state.trace.first_byte_us = state.microseconds();
  return relay_plain(engine, state, reply, client, deadline);
}

}  // namespace plimsoll::engine
