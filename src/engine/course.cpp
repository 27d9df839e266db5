#include "engine/course.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace plimsoll::engine {
namespace {

// Nothing happened that anybody would look for.
bool is_plain(const Trace& trace) {
  return !trace.changed && trace.status == 200 && trace.error.empty() && trace.cut == 0 &&
         trace.session.empty() && trace.index.empty() && trace.warnings.empty() && trace.attempts.size() == 1;
}

void count_up(Counters& counters, const Course& course, const Result<void>& outcome) {
  const Trace& trace = course.trace;
  ++counters.requests;
  if (!outcome) ++(outcome.error().code == Errc::over_budget ? counters.refused : counters.failed);
  if (outcome && trace.changed) ++counters.planned;
  if (outcome && !trace.changed) ++counters.untouched;
  if (outcome && !course.plan.fallback.to.empty()) ++counters.fallbacks;
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
  append_texts(texts, nlohmann::ordered_json::parse(request, nullptr, /*allow_exceptions=*/false));
  return texts;
}

constexpr std::size_t longest_compared = std::size_t{1} << 20;

// Whether it stands in a request, with JSON's escapes or without them.
bool repeats_texts(std::string_view said, std::string_view request) {
  return request.size() > longest_compared || repeats(said, request) || repeats(said, texts_in(request));
}

// By section of the plan, with what was written; nothing where no upstream took the request. One that was
// given up by the client was read all the same.
std::vector<SectionTokens> used_by(const Course& course) {
  const Trace& trace = course.trace;
  std::vector<SectionTokens> used;
  const bool answered = trace.status >= 200 && trace.status < 300;
  const auto add = [&](std::string_view section, Tokens tokens) {
    if (tokens > 0) used.push_back({std::string(section), tokens});
  };
  add("summary", course.summary_used);  // which a model has written, whatever became of the rest
  if (!answered && !course.left) return used;
  for (const PlannedSection& planned : course.plan.sections)
    if (is_input(planned.section.kind)) add(name_of(planned.section.kind), planned.used);
  // A server may say what it likes. No request has more tokens than bytes, and no answer more than was
  // allowed or came.
  const auto bytes = static_cast<Tokens>(course.asked_bytes);
  if (used.empty())
    add("prompt", trace.input > 0 ? trace.input : std::min(bytes, trace.usage.input.value_or(0)));
  constexpr Tokens usual_window = 131'072;
  const Tokens allowed = course.allowed_answer > 0 ? course.allowed_answer
                         : trace.window > 0        ? trace.window
                                                   : usual_window;
  const Tokens most = std::max(allowed, course.streamed);
  const auto bounded = [&](Tokens tokens) { return std::min(tokens, most); };
  const Tokens thinking = bounded(trace.usage.thinking.value_or(0));
  add("thinking", thinking);
  // Who goes away before the server tells has read the words all the same.
  const Tokens unsaid = course.ask.caller.metered ? course.streamed : 0;
  add("answer", bounded(trace.usage.answer.value_or(unsaid)) - thinking);
  return used;
}

void charge(Engine& engine, Course& course) {
  Trace& trace = course.trace;
  trace.used = used_by(course);
  if (trace.status == 429 && trace.attempts.empty()) return;  // the limits refused it
  if (engine.traces != nullptr) engine.traces->count(trace);
  if (!engine.charge) return;
  Tokens tokens = 0;
  for (const SectionTokens& one : trace.used) tokens = add_used(tokens, one.tokens);
  engine.charge(trace.owner, tokens);
  course.reserved.reset();
}

}  // namespace

Course::Course(Ask asked, std::string trace_id) : ask(std::move(asked)), asked_bytes(ask.body.size()) {
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

bool should_pack(const Course& course) {
  constexpr std::size_t small = std::size_t{64} << 10;
  return course.ask.body.size() > small && !course.parts.body.is_null();
}

void pack(Course& course) {
  course.packed = base::json_text(course.parts.body);
  course.parts.body = nullptr;
}

void unpack(Course& course) {
  if (course.packed.empty()) return;
  course.parts.body = nlohmann::ordered_json::parse(course.packed);
  course.packed = {};
}

std::vector<std::size_t> passages_aboard(const Course& course) {
  std::vector<std::size_t> kept;
  std::size_t at = 0;
  for (const PlannedPiece& piece : course.plan.pieces) {
    if (piece.section != SectionKind::context) continue;
    if (at < course.passages.size() && piece.fate == Fate::kept) kept.push_back(at);
    ++at;
  }
  return kept;
}

bool repeats_request(const Course& course, std::string_view said, std::string_view sent) {
  std::string without_model(said);  // whose name is no secret
  const std::string& model = course.trace.asked_model;
  for (std::size_t at = 0; !model.empty() && (at = without_model.find(model, at)) != std::string::npos;)
    without_model.replace(at, model.size(), 1, '\1');
  return repeats_texts(without_model, course.ask.body) ||
         (!course.body.empty() && repeats_texts(without_model, course.body)) ||
         (!sent.empty() && repeats_texts(without_model, sent));
}

bool holds_words(const Course& course, const std::vector<std::string>& words) {
  const auto holds = [&](std::string_view request) {
    if (request.empty()) return false;
    if (request.size() > longest_compared) return true;
    const std::string as_sent = base::to_lower_ascii(request),
                      texts = base::to_lower_ascii(texts_in(request));
    return std::ranges::any_of(words, [&](const std::string& one) {
      return as_sent.find(one) != std::string::npos || texts.find(one) != std::string::npos;
    });
  };
  return holds(course.ask.body) || holds(course.body);
}

std::string for_the_record(const Engine& engine, const Course& course, std::string said,
                           std::string_view sent) {
  if (engine.rules.keep_prompts || !repeats_request(course, said, sent)) return said;
  return fmt::format("an error of {} bytes that may repeat the request, which is not kept (keep_prompts)",
                     said.size());
}

void close_course(Engine& engine, Course& course, const Result<void>& outcome) {
  Trace& trace = course.trace;
  trace.stream = course.stream;
  trace.total_us = course.microseconds();
  if (!outcome) {
    if (trace.error.empty()) trace.error = outcome.error().what;
    if (trace.status == 0) trace.status = status_of(outcome.error().code);
  }
  count_up(engine.counters, course, outcome);
  log::debug("request", {{"trace", trace.id},
                         {"model", trace.model},
                         {"status", trace.status},
                         {"input", trace.input},
                         {"window", trace.window},
                         {"us", trace.total_us}});
  charge(engine, course);
  if (engine.traces == nullptr || !engine.traces->keeps_traces() ||
      (is_plain(trace) && !engine.traces->takes_plain()))
    return;
  if (!course.plan.sections.empty()) trace.plan = plan_json_line(course.plan);
  trace.warnings.insert(trace.warnings.begin(), course.plan.warnings.begin(), course.plan.warnings.end());
  for (const std::size_t place : passages_aboard(course)) {
    FoundPassage& found = course.passages[place];
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
    trace.prompt = course.outgoing();
    trace.facts = own_facts(course);
  }
  engine.traces->add(std::move(trace));
}

}  // namespace plimsoll::engine
