#include "engine/record.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "ledger/cost.hpp"
#include "ledger/log_trace.hpp"

namespace plimsoll::engine {
namespace {

// Returns whether nothing happened that anybody would look for.
bool is_plain(const Trace& trace) {
  return !trace.changed && was_answered(trace) && trace.error.empty() && trace.cut == 0 &&
         trace.session.empty() && trace.index.empty() && trace.warnings.empty() && trace.attempts.size() == 1;
}

void count_up(Counters& counters, const Trace& trace, const Plan& plan, const Result<void>& outcome) {
  ++counters.requests;
  if (!outcome) ++(outcome.error().code == Errc::over_budget ? counters.refused : counters.failed);
  if (outcome && trace.changed) ++counters.planned;
  if (outcome && !trace.changed) ++counters.untouched;
  if (outcome && !plan.fallback.to.empty()) ++counters.fallbacks;
  if (trace.cut > 0) {
    ++counters.cuts;
    counters.cut_tokens += static_cast<std::uint64_t>(trace.cut);
  }
}

// Returns the tokens by section of the plan, and of the answer; none if no upstream took the request. One
// that the client gave up was read as well.
std::vector<SectionTokens> used_by(const Ended& ended) {
  const Trace& trace = ended.trace;
  const Spent& spent = ended.spent;
  std::vector<SectionTokens> used;
  const auto add = [&](std::string_view section, Tokens tokens) {
    if (tokens > 0) used.push_back({std::string(section), tokens});
  };
  add("summary", spent.summary);  // which a model has written, whatever became of the rest
  if (!was_answered(trace) && !spent.left) return used;
  for (const PlannedSection& planned : ended.planned.plan.sections)
    if (is_input(planned.section.kind)) add(name_of(planned.section.kind), planned.used);
  // A server's numbers are bounded: no request has more tokens than bytes, and no answer more than was
  // allowed or came.
  const auto bytes = static_cast<Tokens>(ended.received.ask.body.size());
  constexpr Tokens usual_window = 131'072;
  // What a server keeps of a conversation is in no byte of the request, but in its window.
  const bool goes_on = ended.received.ask.kind == RequestKind::response;
  const Tokens most_input = goes_on ? std::max(bytes, trace.window > 0 ? trace.window : usual_window) : bytes;
  if (used.empty()) add("prompt", std::max(trace.input, std::min(most_input, trace.usage.input.value_or(0))));
  const Tokens allowed = spent.allowed_answer > 0 ? spent.allowed_answer
                         : trace.window > 0       ? trace.window
                                                  : usual_window;
  const Tokens most = std::max(allowed, spent.streamed);
  const auto bounded = [&](Tokens tokens) { return std::min(tokens, most); };
  const Tokens thinking = bounded(trace.usage.thinking.value_or(0));
  add("thinking", thinking);
  // A client that disconnects before usage is reported has read the words.
  const Tokens unsaid = ended.received.ask.caller.metered ? spent.streamed : 0;
  add("answer", bounded(trace.usage.answer.value_or(unsaid)) - thinking);
  return used;
}

// `settled`: tokens of the trace that the owner's limits know already.
void charge(const Engine& engine, const Trace& trace, HeldShare* held, Tokens settled = 0) {
  if (engine.traces != nullptr) engine.traces->count(trace);
  Tokens tokens = 0;
  for (const SectionTokens& one : trace.used) tokens = add_used(tokens, one.tokens);
  tokens = std::max<Tokens>(0, tokens - settled);
  if (held != nullptr)
    held->settle(tokens);
  else if (engine.charge)
    engine.charge(trace.owner, tokens);
}

TracePassage traced(const FoundPassage& found, bool with_text) {
  const SelectedPassage& passage = found.passage;
  TracePassage out{passage.key,
                   passage.source,
                   passage.tokens,
                   static_cast<double>(passage.score),
                   found.distance,
                   passage.reason,
                   {},
                   passage.page,
                   passage.last_page,
                   passage.first_line,
                   passage.last_line};
  if (with_text) out.text = passage.text;
  return out;
}

}  // namespace

Trace begun_trace(const Received& received) {
  Trace trace;
  trace.id = received.trace_id;
  trace.owner = received.owner();
  trace.route = received.ask.route.empty() ? route_of(received.ask.kind) : received.ask.route;
  trace.at_ms = received.at_ms;
  trace.context = received.context;
  if (received.sends_spans) trace.parent_span = received.ask.caller.context.span_id;
  return trace;
}

void record(const chat::ChatRequest& chat, const Received& received, Trace& trace) {
  trace.asked_model = chat.model;
  trace.stream = chat.streams;
  if (received.is_chat()) trace.session = chat.wishes.session;
}

void record(const Request& request, Trace& trace) {
  trace.index = request.chat.wishes.index;
}

void record(const Planned& planned, Trace& trace) {
  const Figures& figures = planned.figures;
  trace.window = figures.window;
  trace.input = figures.input;
  trace.thinking = figures.thinking;
  trace.answer = figures.answer;
  trace.margin = figures.margin;
  trace.exactness = figures.exactness;
  trace.left_out = planned.documents.left_out;
  trace.left_out_total = planned.documents.left_out_total;
  if (planned.upstream.empty()) return;  // no server was chosen
  trace.model = planned.model;
  trace.upstream = planned.upstream;
  trace.changed = planned.changed;
}

void record(const Notes& notes, Trace& trace, Spent& spent) {
  trace.warnings.insert(trace.warnings.end(), notes.warnings.begin(), notes.warnings.end());
  trace.retrieve_us += notes.retrieve_us;
  spent.summary = add_used(spent.summary, notes.summary_used);
  spent.summary_settled = add_used(spent.summary_settled, notes.summary_settled);
  trace.cost = ledger::sum_of(trace.cost, notes.summary_cost);
}

void charge_texts(Engine& engine, const Caller& caller, const std::string& route, const std::string& model,
                  Tokens tokens, HeldShare* held) {
  Trace trace;
  trace.owner = caller.owner;
  trace.route = route;
  trace.model = model;
  trace.at_ms = base::utc_ms();
  trace.used.push_back({"prompt", tokens});
  charge(engine, trace, held);
}

void close_request(Engine& engine, Ended ended, const Result<void>& outcome) {
  Trace& trace = ended.trace;
  const Planned& planned = ended.planned;
  trace.total_us = ended.received.microseconds();
  if (!outcome) {
    if (trace.error.empty()) trace.error = outcome.error().what;
    if (trace.code == ReplyCode::none) trace.code = reply_code(outcome.error().code);
  }
  count_up(engine.counters, trace, planned.plan, outcome);
  ledger::log_trace(trace);
  trace.used = used_by(ended);
  if (ended.spent.left)
    trace.cost = ledger::sum_of(trace.cost, {std::nullopt, "the client left before usage was reported"});
  if (!ended.spent.is_turned_away || ended.spent.summary > 0)
    charge(engine, trace, ended.spent.reserved.get(), ended.spent.summary_settled);
  ended.spent.reserved.reset();  // once it is charged
  if (engine.feed != nullptr) engine.feed->add_finished(trace, planned.plan);
  const bool is_kept = engine.traces != nullptr && engine.traces->keeps_traces() &&
                       (!is_plain(trace) || engine.traces->takes_plain());
  const bool is_sent = engine.spans != nullptr && ended.received.sends_spans;
  if (!is_kept && !is_sent) return;
  const bool with_texts = engine.rules.keep_prompts;
  trace.warnings.insert(trace.warnings.begin(), planned.plan.warnings.begin(), planned.plan.warnings.end());
  for (const std::size_t place : passages_in_plan(planned))
    trace.passages.push_back(traced(planned.documents.passages[place], with_texts));
  if (with_texts) {
    trace.prompt = planned.outgoing(ended.received);
    trace.facts = own_facts(ended.recalled);
  }
  if (is_sent) engine.spans->add(trace, planned.plan, ended.received.ask.kind, with_texts);
  if (!is_kept) return;
  if (!planned.plan.sections.empty()) trace.plan = plan_json_line(planned.plan);
  engine.traces->add(std::move(trace));
}

}  // namespace plimsoll::engine
