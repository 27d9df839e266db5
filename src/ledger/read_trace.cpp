#include <limits>

#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "ledger/trace_schema.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

// Reads fields of an object; remembers the first invalid one. A missing field keeps its
// default: an older version did not write it.
class Fields {
 public:
  Fields(const Json& json, std::string& fault) : json_(json), fault_(fault) {
    if (!json.is_object()) blame("an object");
  }

  const Json* find(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }
  void take(const char* name, std::string& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return blame(name);
    out = value->get_ref<const std::string&>();
  }
  void take(const char* name, bool& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) return blame(name);
    out = value->get<bool>();
  }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  void take(const char* name, Number& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!fits<Number>(*value)) return blame(name);
    out = value->get<Number>();
  }
  void take(const char* name, double& out) {
    const Json* value = find(name);
    if (value == nullptr || value->is_null()) return;
    if (!value->is_number()) return blame(name);
    out = value->get<double>();
  }
  void take(const char* name, std::optional<Tokens>& out) {
    const Json* value = find(name);
    if (value == nullptr || value->is_null()) return;
    if (!fits<Tokens>(*value)) return blame(name);
    out = value->get<Tokens>();
  }
  template <typename Entry, typename Read>
  void take_list(const char* name, std::vector<Entry>& out, Read read) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) return blame(name);
    for (const Json& entry : *value) out.push_back(read(entry, fault_));
  }
  // An object of numbers.
  void take(const char* name, std::vector<SectionTokens>& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_object()) return blame(name);
    for (const auto& [section, tokens] : value->items()) {
      if (!fits<Tokens>(tokens)) return blame(name);
      out.push_back({section, tokens.get<Tokens>()});
    }
  }
  void blame(const char* name) {
    if (fault_.empty()) fault_ = name;
  }

 private:
  template <typename Number>
  static bool fits(const Json& value) {
    if (value.is_number_unsigned()) {
      return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
    }
    if (!value.is_number_integer()) return false;
    const auto number = value.get<std::int64_t>();
    return std::is_signed_v<Number> &&
           number >= static_cast<std::int64_t>(std::numeric_limits<Number>::min());
  }

  const Json& json_;
  std::string& fault_;
};

TraceAttempt read_attempt(const Json& json, std::string& fault) {
  Fields fields(json, fault);
  TraceAttempt out;
  fields.take("upstream", out.upstream);
  fields.take("model", out.model);
  int status = 0;
  fields.take("status", status);
  out.code = ReplyCode{status};
  fields.take("outcome", out.outcome);
  fields.take("window", out.window);
  fields.take("took_us", out.took_us);
  return out;
}

TracePassage read_passage(const Json& json, std::string& fault) {
  Fields fields(json, fault);
  TracePassage out;
  fields.take("document", out.document);
  fields.take("start", out.source.start);
  fields.take("end", out.source.end);
  fields.take("page", out.page);
  fields.take("last_page", out.last_page);
  fields.take("first_line", out.first_line);
  fields.take("last_line", out.last_line);
  fields.take("tokens", out.tokens);
  fields.take("score", out.score);
  fields.take("distance", out.distance);
  fields.take("reason", out.reason);
  fields.take("text", out.text);
  return out;
}

TraceLeftOut read_left_out(const Json& json, std::string& fault) {
  Fields fields(json, fault);
  TraceLeftOut out;
  fields.take("document", out.document);
  fields.take("score", out.score);
  fields.take("relevance", out.relevance);
  fields.take("reason", out.reason);
  return out;
}

std::string read_warning(const Json& json, std::string& fault) {
  if (json.is_string()) return json.get<std::string>();
  if (fault.empty()) fault = "warnings";
  return {};
}

void read_request(Fields& fields, Trace& out) {
  fields.take("id", out.id);
  fields.take("at_ms", out.at_ms);
  fields.take("trace_id", out.context.trace_id);
  fields.take("owner", out.owner);
  fields.take("session", out.session);
  fields.take("route", out.route);
  fields.take("asked_model", out.asked_model);
  fields.take("model", out.model);
  fields.take("upstream", out.upstream);
  fields.take("index", out.index);
  fields.take("stream", out.stream);
  fields.take("changed", out.changed);
  int status = 0;
  fields.take("status", status);
  out.code = ReplyCode{status};
  fields.take("error", out.error);
  fields.take("finish_reason", out.finish_reason);
  fields.take("prompt", out.prompt);
}

void read_figures(Fields& fields, Trace& out, std::string& fault) {
  fields.take("window", out.window);
  fields.take("input_tokens", out.input);
  fields.take("thinking_tokens", out.thinking);
  fields.take("answer_tokens", out.answer);
  fields.take("margin", out.margin);
  fields.take("drift", out.drift);
  fields.take("upstream_cut_tokens", out.cut);
  std::string exactness(name_of(out.exactness));
  fields.take("exactness", exactness);
  bool known = false;
  for (const Exactness one : {Exactness::exact, Exactness::calibrated, Exactness::estimated}) {
    if (name_of(one) != exactness) continue;
    out.exactness = one;
    known = true;
  }
  if (!known) fields.blame("exactness");
  if (const Json* usage = fields.find("usage")) {
    Fields figures(*usage, fault);
    figures.take("input", out.usage.input);
    figures.take("answer", out.usage.answer);
    figures.take("thinking", out.usage.thinking);
    figures.take("cached", out.usage.cached);
    figures.take("written", out.usage.written);
  }
  if (const Json* cost = fields.find("cost"); cost != nullptr && !cost->is_null()) {
    Fields figures(*cost, fault);
    figures.take("nano_usd", out.cost.nano_usd);
    figures.take("why", out.cost.why);
    const std::int64_t amount = out.cost.nano_usd.value_or(0);
    if (amount < 0 || amount > most_cost) fields.blame("cost");
  }
  fields.take("used", out.used);
  if (const Json* us = fields.find("us")) {
    Fields figures(*us, fault);
    figures.take("plan", out.plan_us);
    figures.take("retrieve", out.retrieve_us);
    figures.take("first_byte", out.first_byte_us);
    figures.take("total", out.total_us);
  }
}

}  // namespace

Result<Trace> read_trace(std::string_view text) {
  if (const auto shape = base::check_json_shape(text, "the trace"); !shape)
    return fail(Errc::damaged, "{}", shape.error().what);
  const Json json = base::parse_json(text);
  if (!json.is_object()) return fail(Errc::damaged, "not a trace: expected a JSON object");
  std::string fault;
  Fields fields(json, fault);
  int schema = 0;
  fields.take("schema", schema);
  if (schema != ledger::trace_schema)
    return fail(Errc::damaged, "the trace has schema {}; this program reads schema {}", schema,
                ledger::trace_schema);
  Trace out;
  read_request(fields, out);
  if (out.id.empty()) fields.blame("id");
  read_figures(fields, out, fault);
  fields.take_list("attempts", out.attempts, read_attempt);
  fields.take_list("passages", out.passages, read_passage);
  fields.take_list("left_out", out.left_out, read_left_out);
  fields.take("left_out_documents", out.left_out_total);
  fields.take_list("warnings", out.warnings, read_warning);
  if (const Json* plan = fields.find("plan"); plan != nullptr && !plan->is_null()) {
    if (!plan->is_object()) fields.blame("plan");
    out.plan = base::json_text(*plan);
  }
  if (!fault.empty()) return fail(Errc::damaged, "not a trace: the field '{}' is invalid", fault);
  return out;
}

}  // namespace plimsoll
