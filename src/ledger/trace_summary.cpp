// Written directly into one string: while somebody watches, this runs for every request.
#include "ledger/trace_summary.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/compile.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/private_words.hpp"

namespace plimsoll::ledger {
namespace {

constexpr std::size_t longest_error = 1'000;

// `name` comes with its quotes, comma and colon.
void add_text(std::string& out, std::string_view name, std::string_view text) {
  out += name;
  base::append_json_string(out, text);
}

void add_number(std::string& out, std::string_view name, std::int64_t number) {
  out += name;
  const fmt::format_int digits(number);
  out.append(digits.data(), digits.size());
}

void add_number(std::string& out, std::string_view name, std::optional<Tokens> number) {
  if (number) return add_number(out, name, *number);
  out += name;
  out += "null";
}

void add_flag(std::string& out, std::string_view name, bool value) {
  out += name;
  out += value ? "true" : "false";
}

std::string begun(const Trace& trace) {
  std::string out;
  out.reserve(1'536);
  add_text(out, R"({"id":)", trace.id);
  add_number(out, R"(,"at_ms":)", trace.at_ms);
  add_text(out, R"(,"session":)", trace.session);
  add_text(out, R"(,"route":)", trace.route);
  add_text(out, R"(,"asked_model":)", trace.asked_model);
  return out;
}

void add_plan(std::string& out, const PlanSummary& plan) {
  add_flag(out, R"(,"has_plan":)", plan.is_there);
  add_number(out, R"(,"left":)", plan.left);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"(,"pressure":{:.4f})"),
                 std::isfinite(plan.pressure) ? plan.pressure : 0.0);
  add_text(out, R"(,"policy":)", plan.policy);
  add_text(out, R"(,"strategy":)", plan.strategy);
  out += R"(,"sections":[)";
  for (const SectionSummary& one : plan.sections) {
    add_text(out, &one == &plan.sections.front() ? R"({"name":)" : R"(,{"name":)", one.name);
    add_number(out, R"(,"grant":)", one.grant);
    add_number(out, R"(,"used":)", one.used);
    out += '}';
  }
  add_number(out, R"(],"kept_pieces":)", plan.kept);
  add_number(out, R"(,"dropped_pieces":)", plan.dropped);
  add_number(out, R"(,"summarised_messages":)", plan.summarised);
}

std::string summary_of(const Trace& trace, const PlanSummary& plan) {
  std::string out = begun(trace);
  add_text(out, R"(,"model":)", trace.model);
  add_text(out, R"(,"upstream":)", base::for_clients(trace.upstream));
  add_text(out, R"(,"index":)", trace.index);
  add_flag(out, R"(,"stream":)", trace.stream);
  add_flag(out, R"(,"changed":)", trace.changed);
  add_number(out, R"(,"status":)", std::int64_t{number_of(trace.code)});
  if (!trace.error.empty())
    add_text(out, R"(,"error":)", base::for_clients(trace.error.substr(0, longest_error)));
  add_text(out, R"(,"finish_reason":)", trace.finish_reason);
  add_number(out, R"(,"window":)", trace.window);
  add_number(out, R"(,"input_tokens":)", trace.input);
  add_number(out, R"(,"thinking_tokens":)", trace.thinking);
  add_number(out, R"(,"answer_tokens":)", trace.answer);
  add_number(out, R"(,"margin":)", trace.margin);
  add_text(out, R"(,"exactness":)", name_of(trace.exactness));
  add_number(out, R"(,"usage":{"input":)", trace.usage.input);
  add_number(out, R"(,"answer":)", trace.usage.answer);
  add_number(out, R"(,"cached":)", trace.usage.cached);
  out += '}';
  if (trace.cost != Cost{}) {
    add_number(out, R"(,"cost":{"nano_usd":)", trace.cost.nano_usd);
    if (!trace.cost.nano_usd) add_text(out, R"(,"why":)", trace.cost.why);
    out += '}';
  }
  add_number(out, R"(,"drift":)", trace.drift);
  add_number(out, R"(,"upstream_cut_tokens":)", trace.cut);
  add_number(out, R"(,"us":{"plan":)", trace.plan_us);
  add_number(out, R"(,"retrieve":)", trace.retrieve_us);
  add_number(out, R"(,"first_byte":)", trace.first_byte_us);
  add_number(out, R"(,"total":)", trace.total_us);
  add_number(out, R"(},"attempts":)", static_cast<std::int64_t>(trace.attempts.size()));
  add_plan(out, plan);
  out += '}';
  return out;
}

}  // namespace

std::string begun_summary(const Trace& trace) {
  return begun(trace) + '}';
}

std::string trace_summary(const Trace& trace, const PlanSummary& plan) {
  return summary_of(trace, plan);
}

std::string trace_summary(const Trace& trace) {
  using Json = nlohmann::ordered_json;
  const Json plan = trace.plan.empty() ? Json() : base::parse_json(trace.plan);
  PlanSummary summary;
  summary.is_there = plan.is_object();
  if (!summary.is_there) return summary_of(trace, summary);
  const auto list = [&](const char* name) {
    const auto found = plan.find(name);
    return found != plan.end() && found->is_array() ? *found : Json::array();
  };
  const auto part = [&](const char* name) {
    const auto found = plan.find(name);
    return found != plan.end() && found->is_object() ? *found : Json::object();
  };
  summary.left = plan.value("left", Tokens{0});
  summary.pressure = plan.value("pressure", 0.0);
  summary.policy = plan.value("policy", "");
  summary.strategy = part("strategy").value("strategy", "");
  summary.summarised = part("summary").value("messages", std::int64_t{0});
  for (const Json& one : list("sections")) {
    SectionSummary section{one.value("name", ""), one.value("grant", Tokens{0}),
                           one.value("used", Tokens{0})};
    if (section.grant > 0 || section.used > 0) summary.sections.push_back(std::move(section));
  }
  for (const Json& one : list("pieces")) ++(one.value("fate", "") == "kept" ? summary.kept : summary.dropped);
  return summary_of(trace, summary);
}

}  // namespace plimsoll::ledger
