// A plan as JSON text or as a tree. Every request of the gateway stores its plan as text, which is written
// directly: building a tree would cost more than planning.
#include <fmt/compile.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "engine/plan/plan_tree.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

// Writes one level of an object as text, with commas.
class TextWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}

  template <typename Value>
  TextWriter& field(std::string_view name, const Value& value) {
    key(name);
    put(value);
    return *this;
  }
  // Writes a nested list or object with `fill`.
  template <typename Fill>
  TextWriter& object(std::string_view name, const Fill& fill) {
    key(name);
    braces(fill);
    return *this;
  }
  template <typename List, typename Fill>
  TextWriter& objects(std::string_view name, const List& list, const Fill& fill) {
    key(name);
    out_ += '[';
    bool first = true;
    for (const auto& one : list) {
      if (!std::exchange(first, false)) out_ += ',';
      braces([&](TextWriter& writer) { fill(writer, one); });
    }
    out_ += ']';
    return *this;
  }
  TextWriter& sections(const std::vector<PlannedSection>& sections);

 private:
  template <typename Fill>
  void braces(const Fill& fill) {
    out_ += '{';
    TextWriter inner(out_);
    fill(inner);
    out_ += '}';
  }
  void key(std::string_view name) {  // our names need no escapes
    fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}{}\":"),
                   std::exchange(first_, false) ? "\"" : ",\"", name);
  }
  void put(std::string_view text) { base::append_json_string(out_, text); }
  void put(const std::string& text) { base::append_json_string(out_, text); }
  void put(const char* text) { base::append_json_string(out_, text); }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(std::int64_t value) { out_ += fmt::format_int(value).c_str(); }
  void put(int value) { put(std::int64_t{value}); }
  void put(double value) {
    const std::size_t begin = out_.size();
    fmt::format_to(std::back_inserter(out_), "{}", value);
    if (out_.find_first_of(".en", begin) == std::string::npos)
      out_ += ".0";  // keeps it a floating-point number
  }
  void put(std::nullptr_t) { out_ += "null"; }
  void put(const std::vector<std::string>& texts) {
    out_ += '[';
    for (const std::string& text : texts) {
      if (&text != &texts.front()) out_ += ',';
      put(text);
    }
    out_ += ']';
  }

  std::string& out_;
  bool first_ = true;
};

// Sections are most of the output and all numbers: written at once.
TextWriter& TextWriter::sections(const std::vector<PlannedSection>& sections) {
  key("sections");
  out_ += '[';
  for (const PlannedSection& planned : sections) {
    const Section& section = planned.section;
    fmt::format_to(
        std::back_inserter(out_),
        FMT_COMPILE(
            "{}{{\"name\":\"{}\",\"basis\":{},\"min\":{},\"max\":{},\"grow\":{},\"shrink\":{},\"grant\":{},"
            "\"used\":{},\"exactness\":\"{}\"}}"),
        &planned == &sections.front() ? "" : ",", name_of(section.kind), section.basis, section.min,
        section.max, section.grow, section.shrink, planned.grant, planned.used, name_of(planned.exactness));
  }
  out_ += ']';
  return *this;
}

// Writes one level of an object into a tree.
class TreeWriter {
 public:
  explicit TreeWriter(Json& out) : out_(out) { out_ = Json::object(); }

  template <typename Value>
  TreeWriter& field(std::string_view name, const Value& value) {
    out_[name] = value;
    return *this;
  }
  template <typename Fill>
  TreeWriter& object(std::string_view name, const Fill& fill) {
    TreeWriter inner(out_[name]);
    fill(inner);
    return *this;
  }
  template <typename List, typename Fill>
  TreeWriter& objects(std::string_view name, const List& list, const Fill& fill) {
    Json& all = out_[name] = Json::array();
    for (const auto& one : list) {
      TreeWriter inner(all.emplace_back());
      fill(inner, one);
    }
    return *this;
  }
  TreeWriter& sections(const std::vector<PlannedSection>& sections) {
    return objects("sections", sections, [](TreeWriter& writer, const PlannedSection& planned) {
      const Section& section = planned.section;
      writer.field("name", name_of(section.kind))
          .field("basis", section.basis)
          .field("min", section.min)
          .field("max", section.max)
          .field("grow", section.grow)
          .field("shrink", section.shrink)
          .field("grant", planned.grant)
          .field("used", planned.used)
          .field("exactness", name_of(planned.exactness));
    });
  }

 private:
  Json& out_;
};

template <typename Writer>
void write_window(Writer& writer, const Window& window) {
  writer.field("tokens", window.tokens)
      .field("source", name_of(window.source))
      .field("confidence", name_of(window.confidence));
  if (window.source == WindowSource::requestable) writer.field("served_now", window.served_now);
  writer.objects("tried", window.tried, [](auto& one, const WindowAttempt& attempt) {
    one.field("way", attempt.way).field("result", attempt.result);
  });
}

template <typename Writer>
void write_piece(Writer& writer, const PlannedPiece& piece) {
  writer.field("section", name_of(piece.section))
      .field("id", piece.id)
      .field("tokens", piece.tokens)
      .field("fate", piece.fate == Fate::kept ? "kept" : "dropped")
      .field("reason", piece.reason);
}

template <typename Writer>
void write_summary(Writer& writer, const PlannedSummary& summary) {
  writer.field("id", summary.id)
      .field("how", summary.how)
      .field("known", summary.known)
      .field("model", summary.model)
      .field("turns", summary.turns)
      .field("messages", summary.messages)
      .field("replaces", summary.replaces)
      .field("tokens_before", summary.before)
      .field("tokens_after", summary.after);
}

// The same format as strategy::to_json.
template <typename Writer>
void write_strategy(Writer& writer, const StrategyDecision& decision) {
  writer.field("strategy", name_of(decision.strategy))
      .field("confidence", decision.confidence)
      .field("reasoning", decision.reasoning)
      .field("content_tokens", decision.content.tokens)
      .field("available_budget", decision.available_budget)
      .field("model_context_length", decision.model_context_length)
      .field("used_tokens", decision.used_tokens)
      .field("utilization_pct", decision.utilization_pct)
      .field("task_type", name_of(decision.task.type))
      .field("retrieval_budget_tokens", decision.retrieval_budget_tokens)
      .field("steps", decision.steps)
      .field("crisis", decision.task.crisis)
      .field("signal", decision.task.signal)
      .field("content_source", name_of(decision.content.source))
      .field("exactness", name_of(decision.content.exactness));
}

template <typename Writer>
void write_fallback(Writer& writer, const FallbackDecision& decision) {
  writer.field("from", decision.from);
  if (decision.to.empty())
    writer.field("to", nullptr);
  else
    writer.field("to", decision.to);
  writer.field("needed", decision.needed)
      .field("total", decision.total)
      .field("threshold", decision.threshold)
      .field("required", decision.required)
      .objects("considered", decision.considered,
               [](auto& one, const FallbackCandidate& candidate) {
                 one.field("model", candidate.model)
                     .field("window", candidate.window)
                     .field("verdict", candidate.verdict);
               })
      .field("reason", decision.reason);
}

template <typename Writer>
void write_price(Writer& writer, const PlannedPrice& price) {
  writer.field("change", price.change)
      .field("fits", price.fits)
      .field("added", price.added)
      .field("gone", price.gone)
      .field("answer", price.answer)
      .field("thinking", price.thinking);
}

template <typename Writer>
void write_plan(Writer& writer, const Plan& plan) {
  writer.field("schema", schema);
  if (!plan.hash.empty()) writer.field("hash", plan.hash);
  writer.field("model", plan.model)
      .object("window", [&](auto& one) { write_window(one, plan.window); })
      .field("policy", name_of(plan.policy))
      .field("fits", plan.fits);
  if (plan.least > 0) writer.field("least_window", plan.least);
  writer.field("input_tokens", plan.input)
      .field("thinking_tokens", plan.thinking)
      .field("answer_tokens", plan.answer)
      .field("margin", plan.margin)
      .field("left", plan.left)
      .field("pressure", plan.pressure)
      .field("exactness", name_of(plan.exactness))
      .field("why", plan.why)
      .field("messageCount", plan.message_count)
      .field("memoryCount", plan.memory_count)
      .field("inputTokenCount", plan.input)
      .field("adjustedMaxTokens", plan.answer)
      .sections(plan.sections)
      .objects("pieces", plan.pieces, [](auto& one, const PlannedPiece& piece) { write_piece(one, piece); });
  if (plan.summary) writer.object("summary", [&](auto& one) { write_summary(one, *plan.summary); });
  writer.object("strategy", [&](auto& one) { write_strategy(one, plan.strategy); })
      .object("fallback", [&](auto& one) { write_fallback(one, plan.fallback); })
      .objects("shadow_prices", plan.prices,
               [](auto& one, const PlannedPrice& price) { write_price(one, price); })
      .field("warnings", plan.warnings);
}

}  // namespace

std::string plan_json_line(const Plan& plan) {
  std::string out;
  out.reserve(4'096);
  out += '{';
  TextWriter writer(out);
  write_plan(writer, plan);
  out += '}';
  return out;
}

nlohmann::ordered_json engine::plan_tree(const Plan& plan) {
  Json tree;
  TreeWriter writer(tree);
  write_plan(writer, plan);
  return tree;
}

std::string plan_json(const Plan& plan) {
  return engine::plan_tree(plan).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll
