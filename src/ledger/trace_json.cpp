// Runs for every request, so it writes directly into one string, without a JSON tree.
#include <cmath>
#include <concepts>
#include <iterator>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "ledger/trace_schema.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {
namespace {

// Writes an object.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  void close() { out_ += '}'; }

  // `name` needs no escape: all names are in this file.
  std::string& field(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
    return out_;
  }
  void add(std::string_view name, const std::string& text) { base::append_json_string(field(name), text); }
  void add(std::string_view name, bool value) { field(name) += value ? "true" : "false"; }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  void add(std::string_view name, Number value) {
    field(name);
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
  }
  void add(std::string_view name, std::optional<Tokens> value) {
    if (value) return add(name, *value);
    field(name) += "null";
  }
  void add(std::string_view name, double value) {
    field(name);
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), value);
    } else {
      out_ += "null";  // JSON has no NaN or infinity
    }
  }
  template <typename List, typename Write>
  void add_list(std::string_view name, const List& list, Write write) {
    field(name) += '[';
    bool first = true;
    for (const auto& entry : list) {
      if (!first) out_ += ',';
      first = false;
      write(out_, entry);
    }
    out_ += ']';
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void write_usage(std::string& out, const Usage& usage) {
  Object json(out);
  json.add("input", usage.input);
  json.add("answer", usage.answer);
  json.add("thinking", usage.thinking);
  json.add("cached", usage.cached);
  if (usage.written) json.add("written", usage.written);
  json.close();
}

void write_cost(std::string& out, const Cost& cost) {
  if (cost == Cost{}) {
    out += "null";
    return;
  }
  Object json(out);
  json.add("nano_usd", cost.nano_usd);
  if (!cost.nano_usd) json.add("why", cost.why);
  json.close();
}

void write_used(std::string& out, const std::vector<SectionTokens>& used) {
  Object json(out);
  for (const SectionTokens& one : used) {
    std::string name;
    base::append_json_string(name, one.section);
    json.add(std::string_view(name).substr(1, name.size() - 2), one.tokens);
  }
  json.close();
}

void write_timings(std::string& out, const Trace& trace) {
  Object json(out);
  json.add("plan", trace.plan_us);
  json.add("retrieve", trace.retrieve_us);
  json.add("first_byte", trace.first_byte_us);
  json.add("total", trace.total_us);
  json.close();
}

void write_attempt(std::string& out, const TraceAttempt& attempt) {
  Object json(out);
  json.add("upstream", attempt.upstream);
  json.add("model", attempt.model);
  json.add("status", number_of(attempt.code));
  json.add("outcome", attempt.outcome);
  json.add("window", attempt.window);
  json.add("took_us", attempt.took_us);
  json.close();
}

void write_passage(std::string& out, const TracePassage& passage) {
  Object json(out);
  json.add("document", passage.document);
  json.add("start", passage.source.start);
  json.add("end", passage.source.end);
  if (passage.page > 0) json.add("page", passage.page);
  if (passage.last_page > 0) json.add("last_page", passage.last_page);
  if (passage.first_line > 0) {
    json.add("first_line", passage.first_line);
    json.add("last_line", passage.last_line);
  }
  json.add("tokens", passage.tokens);
  json.add("score", passage.score);
  json.add("distance", passage.distance);
  json.add("reason", passage.reason);
  if (!passage.text.empty()) json.add("text", passage.text);
  json.close();
}

void write_left_out(std::string& out, const TraceLeftOut& document) {
  Object json(out);
  json.add("document", document.document);
  json.add("score", document.score);
  json.add("relevance", document.relevance);
  json.add("reason", document.reason);
  json.close();
}

// Copied unchanged: it is already JSON, and it is checked when it is read.
void write_plan(std::string& out, std::string_view plan) {
  plan = base::trim(plan);
  if (plan.size() < 2 || plan.front() != '{' || plan.back() != '}') {
    out += "null";
  } else {
    base::append_json_on_one_line(out, plan);
  }
}

std::size_t size_guess(const Trace& trace) {
  std::size_t size = 1'024 + trace.plan.size() + trace.prompt.size() + trace.error.size();
  size += trace.attempts.size() * 256;
  for (const TracePassage& passage : trace.passages) size += 256 + passage.text.size();
  size += trace.left_out.size() * 256;
  for (const std::string& warning : trace.warnings) size += warning.size() + 8;
  return size;
}

}  // namespace

std::string trace_json(const Trace& trace) {
  std::string out;
  out.reserve(size_guess(trace));
  Object json(out);
  json.add("schema", ledger::trace_schema);
  json.add("id", trace.id);
  json.add("at_ms", trace.at_ms);
  if (trace.context.is_known()) json.add("trace_id", trace.context.trace_id);
  json.add("owner", trace.owner);
  json.add("session", trace.session);
  json.add("route", trace.route);
  json.add("asked_model", trace.asked_model);
  json.add("model", trace.model);
  json.add("upstream", trace.upstream);
  json.add("index", trace.index);
  json.add("stream", trace.stream);
  json.add("changed", trace.changed);
  json.add("status", number_of(trace.code));
  json.add("error", trace.error);
  json.add("finish_reason", trace.finish_reason);
  json.add("window", trace.window);
  json.add("input_tokens", trace.input);
  json.add("thinking_tokens", trace.thinking);
  json.add("answer_tokens", trace.answer);
  json.add("margin", trace.margin);
  base::append_json_string(json.field("exactness"), name_of(trace.exactness));
  write_usage(json.field("usage"), trace.usage);
  write_cost(json.field("cost"), trace.cost);
  write_used(json.field("used"), trace.used);
  json.add("drift", trace.drift);
  json.add("upstream_cut_tokens", trace.cut);
  write_timings(json.field("us"), trace);
  json.add_list("attempts", trace.attempts, write_attempt);
  json.add_list("passages", trace.passages, write_passage);
  if (trace.left_out_total > 0) {
    json.add_list("left_out", trace.left_out, write_left_out);
    json.add("left_out_documents", trace.left_out_total);
  }
  json.add_list("warnings", trace.warnings,
                [](std::string& to, const std::string& warning) { base::append_json_string(to, warning); });
  write_plan(json.field("plan"), trace.plan);
  if (!trace.prompt.empty()) json.add("prompt", trace.prompt);
  json.close();
  return out;
}

std::string trace_json_without_words(const Trace& trace) {
  Trace rest = trace;
  rest.prompt.clear();
  rest.warnings.clear();  // a server's words may be the prompt's
  if (!rest.error.empty()) rest.error = "not kept: a memory that the prompt held was forgotten meanwhile";
  return trace_json(rest);
}

namespace {

int status_of(Errc code) {
  switch (code) {
    case Errc::bad_input:
    case Errc::over_budget:
    case Errc::unsupported: return 400;
    case Errc::not_found:
    case Errc::unknown_model: return 404;
    case Errc::timed_out: return 504;
    case Errc::upstream_failed: return 502;
    case Errc::unreachable: return 503;
    case Errc::unknown_setting:
    case Errc::bad_setting:
    case Errc::damaged:
    case Errc::io_failed: return 500;
  }
  return 500;
}

}  // namespace

ReplyCode reply_code(Errc code) {
  return ReplyCode{status_of(code)};
}

}  // namespace plimsoll
