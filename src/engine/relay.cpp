#include "base/chat_reply.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/evidence/protect.hpp"
#include "engine/request_state.hpp"
#include "engine/stand_in.hpp"
#include "ledger/reconcile.hpp"
#include "window/overflow.hpp"

namespace plimsoll::engine {
namespace {

// Whether the upstream says that the prompt was too long; then its window is known better from now on, and
// there is a plan worth making.
bool teaches(Engine& engine, RequestState& state, const ReplyInfo& info, std::string_view body) {
  const auto overflow = window::read_overflow(info.head.status, body);
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

AnswerStart start_of(const RequestState& state, const UpstreamReply& reply) {
  AnswerStart start{.trace = state.trace, .from = reply.info()};
  start.is_chat = is_chat(state);
  if (state.names_index) start.passages = passages_in_plan(state).size();
  start.tells = state.is_annotated();
  start.hides_usage = state.hides_usage;
  return start;
}

// Tells a client what the server refused.
Awaitable<Result<Again>> relay_refusal(Engine& engine, RequestState& state, const UpstreamReply& reply,
                                       const ReplyBody& body, AnswerSink& client) {
  const ReplyInfo& info = reply.info();
  if (teaches(engine, state, info, body.text)) co_return Replan::overflow;
  if (is_unavailable(info.took) && take_stand_in(engine, state, fmt::format("status {}", info.head.status)))
    co_return Replan::server_down;
  state.trace.error = for_the_record(engine, state, body.said);
  if (engine.rules.document_chat_failure && !state.trace.index.empty())
    co_return tl::unexpected(engine.rules.document_chat_failure(body.said));
  state.trace.status = info.head.status;
  const AnswerStart start = start_of(state, reply);
  CO_TRY_VOID(co_await client.refused(start, body));
  co_return std::nullopt;
}

Awaitable<Result<Again>> relay_whole(Engine& engine, RequestState& state, UpstreamReply& reply,
                                     AnswerSink& client, Deadline deadline) {
  auto read = co_await reply.body(engine.rules.idle, deadline);
  const bool answers = reply.info().took == Took::answers;
  if (!read) {
    const bool gone = co_await client_is_gone();
    state.left = gone && answers;  // what it had begun is used all the same
    co_return tl::unexpected(explain_late(state, deadline, std::move(read).error(), "idle_timeout_seconds"));
  }
  const ReplyBody body = *std::move(read);
  if (!answers) co_return co_await relay_refusal(engine, state, reply, body, client);
  if (is_chat(state) && !body.is_object)
    co_return fail(
        Errc::upstream_failed,
        "the upstream '{}' answered with {} bytes that are not a whole JSON object; ask again, or see "
        "its log",
        state.trace.upstream, body.text.size());
  reconcile(engine, state, body.facts);
  if (state.trace.cut > 0 && !state.raised && is_chat(state) && engine.models.raise_window(state.location)) {
    state.raised = true;
    state.trace.attempts.back().outcome =
        fmt::format("the upstream cut {} tokens", base::with_thousands(state.trace.cut));
    state.trace.cut = 0;
    co_return Replan::prompt_cut;
  }
  state.trace.status = reply.info().head.status;
  if (state.parts.wishes.check) check_answer_of(state, base::words_in(body.text));
  const AnswerStart start = start_of(state, reply);
  const auto report = start.tells ? std::optional(report_of(state)) : std::nullopt;
  CO_TRY_VOID(co_await client.whole(start, body, report ? &*report : nullptr));
  co_return std::nullopt;
}

// What the events of a stream have said so far.
struct StreamFacts {
  ReplyFacts facts;
  Tokens chunks = 0;  // of the answer, which are about as many as its tokens
  std::string words;  // of the answer, if they are wanted

  void add(const AnswerEvent& event, bool keep_words) {
    if (keep_words) words += base::words_in(event.data);
    if (event.facts.usage.input) facts.usage = event.facts.usage;
    if (!event.facts.finish_reason.empty()) facts.finish_reason = event.facts.finish_reason;
    if (!event.data.empty() && !event.has_usage_alone()) ++chunks;
  }
};

// Usage comes behind everything else. Only then it is known whether the prompt was cut.
Awaitable<Result<void>> end_stream(Engine& engine, RequestState& state, const StreamFacts& seen,
                                   std::string_view mark, AnswerSink& client) {
  reconcile(engine, state, seen.facts);
  if (state.parts.wishes.check) check_answer_of(state, seen.words);
  const auto report = state.is_annotated() ? std::optional(report_of(state)) : std::nullopt;
  const AnswerEnd end{.report = report ? &*report : nullptr, .mark = mark};
  co_return co_await client.end(end);
}

// The events before the one that marks the end, and that one.
std::pair<AnswerEvents, const AnswerEvent*> until_end(const AnswerEvents& events) {
  for (std::size_t i = 0; i < events.each.size(); ++i) {
    if (!events.each[i].is_done) continue;
    const auto before = static_cast<std::size_t>(events.each[i].bytes.data() - events.bytes.data());
    return {{events.bytes.substr(0, before), events.each.first(i)}, &events.each[i]};
  }
  return {events, nullptr};
}

Awaitable<Result<Again>> relay_stream(Engine& engine, RequestState& state, UpstreamReply& reply,
                                      AnswerSink& client, Deadline deadline) {
  auto came = co_await reply.next(engine.rules.idle, deadline);
  if (!came) {
    state.left = co_await client_is_gone();  // the server has read the prompt all the same
    co_return tl::unexpected(explain_late(state, deadline, std::move(came).error(), "idle_timeout_seconds"));
  }
  state.trace.first_byte_us = state.microseconds();
  if (!came->each.empty() && came->each.front().facts.is_error) {
    const std::string_view error = came->each.front().data;
    if (teaches(engine, state, reply.info(), error)) co_return Replan::overflow;
    const std::string said = base::said_in_error(error);
    state.trace.error = for_the_record(engine, state, said);
    co_return fail(Errc::upstream_failed, "the upstream answered with an error: {}", said);
  }
  state.trace.status = reply.info().head.status;
  const AnswerStart start = start_of(state, reply);
  CO_TRY_VOID(co_await client.begin(start));
  StreamFacts seen;
  bool has_ended = false;
  while (came && !came->each.empty()) {
    if (!has_ended) {  // what a server says after the end is not passed on
      const auto [events, mark] = until_end(*came);
      for (const AnswerEvent& event : events.each) seen.add(event, state.parts.wishes.check);
      state.streamed = seen.chunks;
      if (!events.each.empty()) CO_TRY_VOID(co_await client.events(events));
      has_ended = mark != nullptr;
      if (has_ended) CO_TRY_VOID(co_await end_stream(engine, state, seen, mark->bytes, client));
    }
    came = co_await reply.next(engine.rules.idle, deadline);
  }
  if (has_ended) co_return std::nullopt;
  if (came) {
    CO_TRY_VOID(co_await end_stream(engine, state, seen, {}, client));
    co_return std::nullopt;
  }
  const Error error = explain_late(state, deadline, came.error(), "idle_timeout_seconds");
  state.trace.error = error.what;
  const AnswerEnd end{.broken = &error};
  CO_TRY_VOID(co_await client.end(end));
  co_return std::nullopt;
}

}  // namespace

Error failure_of(const Engine& engine, const RequestState& state, Error error) {
  const bool reworded = engine.rules.document_chat_failure && !state.trace.index.empty();
  return reworded ? engine.rules.document_chat_failure(error.what) : error;
}

Awaitable<Result<Again>> relay(Engine& engine, RequestState& state, UpstreamReply& reply, AnswerSink& client,
                               Deadline deadline) {
  if (const std::string& left_out = reply.info().left_out; !left_out.empty()) {
    state.trace.warnings.push_back(fmt::format("the upstream's API cannot express {}; left out", left_out));
    state.trace.changed = true;  // so that the client is told
  }
  if (reply.info().streams) return relay_stream(engine, state, reply, client, deadline);
  state.trace.first_byte_us = state.microseconds();
  return relay_whole(engine, state, reply, client, deadline);
}

}  // namespace plimsoll::engine
