#include "engine/request_state.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"

namespace plimsoll::engine {
namespace {

// Nothing happened that anybody would look for.
bool is_plain(const Trace& trace) {
  return !trace.changed && was_answered(trace) && trace.error.empty() && trace.cut == 0 &&
         trace.session.empty() && trace.index.empty() && trace.warnings.empty() && trace.attempts.size() == 1;
}

void count_up(Counters& counters, const RequestState& state, const Result<void>& outcome) {
  const Trace& trace = state.trace;
  ++counters.requests;
  if (!outcome) ++(outcome.error().code == Errc::over_budget ? counters.refused : counters.failed);
  if (outcome && trace.changed) ++counters.planned;
  if (outcome && !trace.changed) ++counters.untouched;
  if (outcome && !state.plan.fallback.to.empty()) ++counters.fallbacks;
  if (trace.cut > 0) {
    ++counters.cuts;
    counters.cut_tokens += static_cast<std::uint64_t>(trace.cut);
  }
}

// Whether 16 bytes of the text that begin at a multiple of 16 stand in the request too: 31 in a row never
// escape.
bool repeats(std::string_view text, std::string_view request) {
  constexpr std::size_t piece = 16;
  for (std::size_t at = 0; at + piece <= text.size(); at += piece)
    if (request.find(text.substr(at, piece)) != std::string_view::npos) return true;
  return false;
}

// All texts in a value, as they read without JSON's escapes.
void append_texts(std::string& out, const nlohmann::ordered_json& value) {
  if (value.is_string()) out.append(value.get_ref<const std::string&>()) += '\n';
  if (!value.is_structured()) return;
  for (const auto& [key, one] : value.items()) {
    if (value.is_object()) out.append(key) += '\n';
    append_texts(out, one);
  }
}

std::string texts_in(std::string_view request) {
  std::string texts;
  append_texts(texts, base::parse_json(request));
  return texts;
}

constexpr std::size_t longest_compared = std::size_t{1} << 20;

// Whether it stands in a request, with JSON's escapes or without them.
bool repeats_texts(std::string_view said, std::string_view request) {
  return request.size() > longest_compared || repeats(said, request) || repeats(said, texts_in(request));
}

// By section of the plan, with what was written; nothing where no upstream took the request. One that was
// given up by the client was read all the same.
std::vector<SectionTokens> used_by(const RequestState& state) {
  const Trace& trace = state.trace;
  std::vector<SectionTokens> used;
  const auto add = [&](std::string_view section, Tokens tokens) {
    if (tokens > 0) used.push_back({std::string(section), tokens});
  };
  add("summary", state.summary_used);  // which a model has written, whatever became of the rest
  if (!was_answered(trace) && !state.left) return used;
  for (const PlannedSection& planned : state.plan.sections)
    if (is_input(planned.section.kind)) add(name_of(planned.section.kind), planned.used);
  // A server may say what it likes. No request has more tokens than bytes, and no answer more than was
  // allowed or came.
  const auto bytes = static_cast<Tokens>(state.asked_bytes);
  if (used.empty())
    add("prompt", trace.input > 0 ? trace.input : std::min(bytes, trace.usage.input.value_or(0)));
  constexpr Tokens usual_window = 131'072;
  const Tokens allowed = state.allowed_answer > 0 ? state.allowed_answer
                         : trace.window > 0       ? trace.window
                                                  : usual_window;
  const Tokens most = std::max(allowed, state.streamed);
  const auto bounded = [&](Tokens tokens) { return std::min(tokens, most); };
  const Tokens thinking = bounded(trace.usage.thinking.value_or(0));
  add("thinking", thinking);
  // Who goes away before the server tells has read the words all the same.
  const Tokens unsaid = state.ask.caller.metered ? state.streamed : 0;
  add("answer", bounded(trace.usage.answer.value_or(unsaid)) - thinking);
  return used;
}

void charge(Engine& engine, RequestState& state) {
  Trace& trace = state.trace;
  trace.used = used_by(state);
  if (state.is_turned_away) return;
  if (engine.traces != nullptr) engine.traces->count(trace);
  if (!engine.charge) return;
  Tokens tokens = 0;
  for (const SectionTokens& one : trace.used) tokens = add_used(tokens, one.tokens);
  engine.charge(trace.owner, tokens);
  state.reserved.reset();
}

}  // namespace

RequestState::RequestState(Ask asked, std::string trace_id)
    : ask(std::move(asked)), asked_bytes(ask.body.size()) {
  trace.id = std::move(trace_id);
  trace.owner = ask.caller.owner;
  trace.route = ask.route;
  trace.at_ms = ask.at_ms > 0 ? ask.at_ms : base::utc_ms();
}

void charge_texts(Engine& engine, const Caller& caller, const std::string& route, const std::string& model,
                  Tokens tokens) {
  Trace trace;
  trace.owner = caller.owner;
  trace.route = route;
  trace.model = model;
  trace.at_ms = base::utc_ms();
  trace.used.push_back({"prompt", tokens});
  if (engine.traces != nullptr) engine.traces->count(trace);
  if (engine.charge) engine.charge(caller.owner, tokens);
}

bool should_pack(const RequestState& state) {
  constexpr std::size_t small = std::size_t{64} << 10;
  return state.ask.body.size() > small && !state.parts.body.is_null();
}

void pack(RequestState& state) {
  state.packed = base::json_text(state.parts.body);
  state.parts.body = nullptr;
}

void unpack(RequestState& state) {
  if (state.packed.empty()) return;
  state.parts.body = base::parse_json(state.packed);
  state.packed = {};
}

std::vector<std::size_t> passages_in_plan(const RequestState& state) {
  std::vector<std::size_t> kept;
  std::size_t at = 0;
  for (const PlannedPiece& piece : state.plan.pieces) {
    if (piece.section != SectionKind::context) continue;
    if (at < state.passages.size() && piece.fate == Fate::kept) kept.push_back(at);
    ++at;
  }
  return kept;
}

bool repeats_request(const RequestState& state, std::string_view said, std::string_view sent) {
  std::string without_model(said);  // whose name is no secret
  const std::string& model = state.trace.asked_model;
  for (std::size_t at = 0; !model.empty() && (at = without_model.find(model, at)) != std::string::npos;)
    without_model.replace(at, model.size(), 1, '\1');
  return repeats_texts(without_model, state.ask.body) ||
         (!state.body.empty() && repeats_texts(without_model, state.body)) ||
         (!sent.empty() && repeats_texts(without_model, sent));
}

bool holds_words(const RequestState& state, const std::vector<std::string>& words) {
  const auto holds = [&](std::string_view request) {
    if (request.empty()) return false;
    if (request.size() > longest_compared) return true;
    const std::string as_sent = base::to_lower_ascii(request),
                      texts = base::to_lower_ascii(texts_in(request));
    return std::ranges::any_of(words, [&](const std::string& one) {
      return as_sent.find(one) != std::string::npos || texts.find(one) != std::string::npos;
    });
  };
  return holds(state.ask.body) || holds(state.body);
}

std::string for_the_record(const Engine& engine, const RequestState& state, std::string said,
                           std::string_view sent) {
  if (engine.rules.keep_prompts || !repeats_request(state, said, sent)) return said;
  return fmt::format("an error of {} bytes that may repeat the request, which is not kept (keep_prompts)",
                     said.size());
}

void close_request(Engine& engine, RequestState& state, const Result<void>& outcome) {
  Trace& trace = state.trace;
  trace.stream = state.stream;
  trace.total_us = state.microseconds();
  if (!outcome) {
    if (trace.error.empty()) trace.error = outcome.error().what;
    if (trace.status == 0) trace.status = recorded_status(outcome.error().code);
  }
  count_up(engine.counters, state, outcome);
  log::debug("request", {{"trace", trace.id},
                         {"model", trace.model},
                         {"status", trace.status},
                         {"input", trace.input},
                         {"window", trace.window},
                         {"us", trace.total_us}});
  charge(engine, state);
  if (engine.traces == nullptr || !engine.traces->keeps_traces() ||
      (is_plain(trace) && !engine.traces->takes_plain()))
    return;
  if (!state.plan.sections.empty()) trace.plan = plan_json_line(state.plan);
  trace.warnings.insert(trace.warnings.begin(), state.plan.warnings.begin(), state.plan.warnings.end());
  for (const std::size_t place : passages_in_plan(state)) {
    FoundPassage& found = state.passages[place];
    TracePassage passage{found.passage.key,
                         found.passage.source,
                         found.passage.tokens,
                         static_cast<double>(found.passage.score),
                         found.distance,
                         found.passage.reason,
                         {},
                         found.passage.page,
                         found.passage.first_line,
                         found.passage.last_line};
    if (engine.rules.keep_prompts) passage.text = std::move(found.passage.text);
    trace.passages.push_back(std::move(passage));
  }
  if (engine.rules.keep_prompts) {
    trace.prompt = state.outgoing();
    trace.facts = own_facts(state);
  }
  engine.traces->add(std::move(trace));
}

}  // namespace plimsoll::engine
