#include "base/chat_reply.hpp"
#include "base/json/here_or_elsewhere.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "chat/write_chat.hpp"
#include "engine/client_gone.hpp"
#include "engine/evidence/grounded.hpp"
#include "engine/own_words.hpp"
#include "engine/stages.hpp"
#include "engine/stand_in.hpp"
#include "ledger/cost.hpp"
#include "ledger/reconcile.hpp"
#include "window/overflow.hpp"

namespace plimsoll::engine {
namespace {

// All text of the client that a server gets.
OwnWords words_of(const Sendable& one) {
  OwnWords own{one.request.chat.model, {one.received.ask.body, one.planned.body, one.received.context.state}};
  if (const auto& native = one.received.ask.native)
    for (const std::string_view text : native->request.texts()) own.texts.push_back(text);
  return own;
}

// An overflow that the upstream reported, if it teaches something.
struct Overflowed {
  std::string outcome{};          // of the attempt; empty: it reported none that can be believed
  std::optional<Replan> again{};  // for the window that is known now
};

Overflowed overflow_in(Engine& engine, const Sendable& one, const ReplyInfo& info, std::string_view body) {
  Overflowed overflowed;
  const auto overflow = info.may_be_too_long ? window::read_overflow(body)
                        : info.streams       ? window::read_overflow_event(body)
                                             : std::nullopt;
  if (!overflow) return overflowed;
  const Figures& figures = one.planned.figures;
  const models::ModelLocation& location = one.planned.location;
  // If the server does not name its window, it is smaller than what it refused.
  const Tokens window = overflow->window.value_or(
      std::min(figures.window, figures.input + figures.thinking + figures.answer) - 1);
  // A server that repeats what it was sent would be taught by whoever writes to it.
  const OwnWords own = words_of(one);
  if (window < models::WindowSigns::least_believed || repeats_request(own, overflow->said) ||
      holds_words(own, overflow->words))
    return overflowed;
  overflowed.outcome = fmt::format("overflow: the window is {}", base::with_thousands(window));
  log::warning("upstream overflow",
               {{"trace", one.received.trace_id},
                {"model", one.planned.model},
                {"planned_window", figures.window},
                {"window", window},
                {"said", for_the_record(engine.rules.keep_prompts, own, overflow->said)}});
  Replan replan{Replan::Reason::overflow, one.attempt};
  // An Ollama means the window that it was asked to load, and can be asked for a larger one.
  if (!one.received.is_chat() || !engine.models.raise_window(location)) {
    if (window >= figures.window) return overflowed;
    const bool plausible = engine.models.window_signs().refused(
        location, one.received.owner(), one.received.ask.body, window, engine.models.now_ms());
    if (!plausible) return overflowed;
    replan.next.told_window = {location, window};
  }
  ++engine.counters.overflows;
  if (one.attempt.sent == 1) overflowed.again = std::move(replan);
  return overflowed;
}

void learn(const Engine& engine, const Sendable& one, Tokens drift) {
  const Tokens planned = one.planned.figures.input, read = planned + drift;
  const std::int64_t now = engine.models.now_ms();
  // No text has more tokens than bytes. What a server adds of its own and what stands for pictures is counted
  // generously: a report beyond that says nothing of the request.
  constexpr Tokens of_the_server = 4'096;
  if (read > std::ssize(one.planned.outgoing(one.received)) + planned + of_the_server) {
    log::warning("usage ignored: more tokens than the request can have", {{"trace", one.received.trace_id},
                                                                          {"upstream", one.planned.upstream},
                                                                          {"model", one.planned.model},
                                                                          {"planned", planned},
                                                                          {"reported", read}});
    return;
  }
  engine.drift.learn(engine.models.drift_key(one.planned.location, one.received.owner()), drift, now);
  engine.models.window_signs().accepted(one.planned.location, std::min(read, planned), now);
}

// The events before the one that ends the stream, and that one: it marks the end, or is broken.
std::pair<AnswerEvents, const AnswerEvent*> until_end(const AnswerEvents& events) {
  for (std::size_t i = 0; i < events.each.size(); ++i) {
    if (!events.each[i].is_done && !events.each[i].is_broken) continue;
    const auto before = static_cast<std::size_t>(events.each[i].bytes.data() - events.bytes.data());
    return {{events.bytes.substr(0, before), events.each.first(i)}, &events.each[i]};
  }
  return {events, nullptr};
}

// Other kinds than chats and completions have answers of many forms.
bool is_answer(RequestKind kind, const ReplyFacts& facts) {
  if (kind == RequestKind::chat || kind == RequestKind::completion) return facts.has_answer;
  return facts.is_object && (kind == RequestKind::response || !facts.is_error);
}

// What the events of a stream have said so far.
struct StreamFacts {
  ReplyFacts facts;
  Tokens chunks = 0;  // of the answer, which are about as many as its tokens
  std::string words;  // of the answer, if they are wanted

  void add(const AnswerEvent& event, bool keep_words) {
    if (keep_words && words.size() <= longest_checked_answer) words += base::words_in(event.data);
    if (event.facts.usage.input) facts.usage = event.facts.usage;
    if (!event.facts.finish_reason.empty()) facts.finish_reason = event.facts.finish_reason;
    if (!event.data.empty() && !event.has_usage_alone()) ++chunks;
  }
};

// Bytes of an answer that are checked on the connection's thread.
constexpr std::size_t most_checked_at_once = std::size_t{2} << 10;

// Passes one reply on. Its outcome grows meanwhile.
class Relay {
 public:
  Relay(Engine& engine, WorkerContext& worker, const Sendable& one, Trace trace, UpstreamReply& reply,
        AnswerSink& client, Deadline deadline)
      : engine_(engine), worker_(worker), one_(one), reply_(reply), client_(client), deadline_(deadline) {
    out_.trace = std::move(trace);
  }

  Awaitable<void> run() {
    if (const std::string& left_out = reply_.info().left_out; !left_out.empty()) {
      out_.trace.warnings.push_back(fmt::format("the upstream's API cannot express {}; left out", left_out));
      out_.trace.changed = true;  // so that the client is told
    }
    if (reply_.info().streams) {
      out_.done = co_await stream();
    } else {
      out_.trace.first_byte_us = one_.received.microseconds();
      out_.done = co_await whole();
    }
    if (!is_priced_ && reply_.info().took == Took::answers)
      add_cost({std::nullopt, "the answer ended before the server reported its usage"});
  }
  Outcome outcome() && { return std::move(out_); }

 private:
  bool is_annotated() const { return out_.trace.changed || one_.is_annotated(out_.trace.cut); }

  AnswerStart start() const {
    AnswerStart began{.trace = out_.trace, .from = reply_.info()};
    began.is_chat = one_.received.is_chat();
    if (one_.request.names_index) began.passages = passages_in_plan(one_.planned).size();
    began.tells = is_annotated();
    began.hides_usage = one_.planned.hides_usage;
    return began;
  }
  AnswerReport report() const { return report_of(one_, out_.trace, check_ ? &*check_ : nullptr); }

  std::string recorded(std::string said) const {
    return for_the_record(engine_.rules.keep_prompts, words_of(one_), std::move(said));
  }
  Error late(Error error) const {
    return explain_late(one_.received, one_.planned, deadline_, std::move(error), "idle_timeout_seconds");
  }

  // Compares what was read with what was planned.
  void reconcile(const ReplyFacts& facts) {
    Trace& trace = out_.trace;
    trace.usage = facts.usage;
    add_cost(ledger::cost_of(engine_.models.prices_of(one_.planned.location), facts.usage));
    trace.finish_reason = facts.finish_reason;
    const Figures& figures = one_.planned.figures;
    if (figures.input == 0) return;  // nothing was counted
    const auto seen = ledger::reconcile({figures.input, figures.margin, figures.exactness}, facts.usage);
    trace.drift = seen.drift;
    trace.cut = seen.cut;
    if (seen.drift && seen.cut == 0 && !chat::has_uncounted_input(one_.request.chat))
      learn(engine_, one_, *seen.drift);
    if (seen.cut > 0)
      log::warning("upstream cut the prompt", {{"trace", trace.id},
                                               {"upstream", trace.upstream},
                                               {"model", trace.model},
                                               {"planned", figures.input},
                                               {"cut_tokens", seen.cut}});
  }

  void add_cost(const Cost& cost) {
    out_.trace.cost = ledger::sum_of(out_.trace.cost, cost);
    is_priced_ = true;
  }

  Awaitable<void> check(std::string answer) {
    const chat::ChatRequest& chat = one_.request.chat;
    const std::vector<render::Passage>& found = one_.planned.documents.shown;
    const bool is_quick = answer.size() <= most_checked_at_once;
    CheckResult result = co_await base::here_or_elsewhere(&worker_, is_quick, [&] {
      return check_answer_of(one_.planned.plan, found.empty() ? chat.additions.passages : found, chat.query,
                             std::move(answer));
    });
    if (!result.warning.empty()) out_.trace.warnings.push_back(std::move(result.warning));
    check_ = std::move(result.check);
  }

  // Returns whether the request is planned again because of an overflow that the reply reports.
  bool overflows(std::string_view body) {
    Overflowed overflowed = overflow_in(engine_, one_, reply_.info(), body);
    if (!overflowed.outcome.empty()) out_.trace.attempts.back().outcome = std::move(overflowed.outcome);
    out_.again = std::move(overflowed.again);
    return out_.again.has_value();
  }

  // The server refused the request.
  Awaitable<Result<void>> refusal(const ReplyBody& body) {
    const ReplyInfo& info = reply_.info();
    if (overflows(body.text)) co_return Result<void>();
    if (is_unavailable(info.took))
      out_.again = take_stand_in(engine_, one_.received, one_.request, one_.attempt, out_.trace,
                                 one_.planned.location, info.outcome);
    if (out_.again) co_return Result<void>();
    out_.trace.error = recorded(body.said);
    if (engine_.rules.document_chat_failure && !one_.request.chat.wishes.index.empty())
      co_return tl::unexpected(engine_.rules.document_chat_failure(body.said));
    out_.trace.code = info.code;
    const AnswerStart began = start();
    co_return co_await client_.refused(began, body);
  }

  Awaitable<Result<void>> whole() {
    auto read = co_await reply_.body(engine_.rules.idle, deadline_);
    const bool answers = reply_.info().took == Took::answers;
    if (!read) {
      const bool gone = co_await client_is_gone();
      out_.left = gone && answers;  // the tokens of a begun answer are used
      co_return tl::unexpected(late(std::move(read).error()));
    }
    const ReplyBody body = *std::move(read);
    if (!answers) co_return co_await refusal(body);
    if (!is_answer(one_.received.ask.kind, body.facts)) {
      if (!body.facts.is_error)
        co_return fail(
            Errc::upstream_failed,
            "the upstream '{}' answered with {} bytes that are not a whole answer as JSON; ask again, or see "
            "its log",
            one_.planned.upstream, body.text.size());
      out_.trace.error = recorded(body.said);
      co_return fail(Errc::upstream_failed, "the upstream '{}' answered with an error: {}",
                     one_.planned.upstream, body.said);
    }
    reconcile(body.facts);
    Trace& trace = out_.trace;
    if (trace.cut > 0 && !one_.attempt.raised && one_.attempt.may_be_sent_again() &&
        one_.received.is_chat() && engine_.models.raise_window(one_.planned.location)) {
      trace.attempts.back().outcome =
          fmt::format("the upstream cut {} tokens", base::with_thousands(trace.cut));
      trace.cut = 0;
      out_.again = Replan{Replan::Reason::prompt_cut, one_.attempt};
      out_.again->next.raised = true;
      co_return Result<void>();
    }
    trace.code = reply_.info().code;
    if (one_.request.chat.wishes.check) co_await check(base::words_in(body.text));
    const AnswerStart began = start();
    const auto told = began.tells ? std::optional(report()) : std::nullopt;
    co_return co_await client_.whole(began, body, told ? &*told : nullptr);
  }

  // Usage comes after everything else. Only then it is known whether the prompt was cut.
  Awaitable<Result<void>> end(const StreamFacts& seen, std::string_view mark) {
    reconcile(seen.facts);
    if (one_.request.chat.wishes.check) co_await check(seen.words);
    const auto told = is_annotated() ? std::optional(report()) : std::nullopt;
    const AnswerEnd ended{.report = told ? &*told : nullptr, .mark = mark};
    co_return co_await client_.end(ended);
  }

  tl::unexpected<Error> broken_event(const AnswerEvent& event) const {
    return fail(
        Errc::upstream_failed,
        "the upstream '{}' sent an event of {} bytes that is not a whole JSON object; ask again, or see "
        "its log",
        one_.planned.upstream, event.data.size());
  }

  // Ends a stream that has begun with an error.
  Awaitable<Result<void>> break_off(Error error) {
    out_.trace.error = error.what;
    const AnswerEnd broken{.broken = &error};
    co_return co_await client_.end(broken);
  }

  Awaitable<Result<void>> stream() {
    auto came = co_await reply_.next(engine_.rules.idle, deadline_);
    if (!came) {
      out_.left = co_await client_is_gone();  // the server has read the prompt
      co_return tl::unexpected(late(std::move(came).error()));
    }
    out_.trace.first_byte_us = one_.received.microseconds();
    if (!came->each.empty() && came->each.front().is_broken) co_return broken_event(came->each.front());
    if (!came->each.empty() && came->each.front().facts.is_error) {
      const std::string_view error = came->each.front().data;
      if (overflows(error)) co_return Result<void>();
      const std::string said = base::said_in_error(error);
      out_.trace.error = recorded(said);
      co_return fail(Errc::upstream_failed, "the upstream answered with an error: {}", said);
    }
    out_.trace.code = reply_.info().code;
    const AnswerStart began = start();
    CO_TRY_VOID(co_await client_.begin(began));
    StreamFacts seen;
    bool has_ended = false;
    while (came && !came->each.empty()) {
      if (!has_ended) {  // what a server says after the end is not passed on
        const auto [events, last] = until_end(*came);
        for (const AnswerEvent& event : events.each) seen.add(event, one_.request.chat.wishes.check);
        out_.streamed = seen.chunks;
        if (!events.each.empty()) CO_TRY_VOID(co_await client_.events(events));
        if (last != nullptr && last->is_broken) co_return co_await break_off(broken_event(*last).value());
        has_ended = last != nullptr;
        if (has_ended) CO_TRY_VOID(co_await end(seen, last->bytes));
      }
      came = co_await reply_.next(engine_.rules.idle, deadline_);
    }
    if (has_ended) co_return Result<void>();
    if (came) co_return co_await end(seen, {});
    co_return co_await break_off(late(came.error()));
  }

  Engine& engine_;
  WorkerContext& worker_;
  const Sendable& one_;
  UpstreamReply& reply_;
  AnswerSink& client_;
  Deadline deadline_;
  Outcome out_;
  std::optional<AnswerCheck> check_;
  bool is_priced_ = false;  // the cost has what this reply costs, or why that is not known
};

}  // namespace

Error failure_of(const Engine& engine, const Request& request, Error error) {
  const bool reworded = engine.rules.document_chat_failure && !request.chat.wishes.index.empty();
  return reworded ? engine.rules.document_chat_failure(error.what) : std::move(error);
}

Awaitable<Outcome> relay(Engine& engine, WorkerContext& worker, const Sendable& one, Trace trace,
                         UpstreamReply& reply, AnswerSink& client, Deadline deadline) {
  Relay relay(engine, worker, one, std::move(trace), reply, client, deadline);
  co_await relay.run();
  co_return std::move(relay).outcome();
}

}  // namespace plimsoll::engine
