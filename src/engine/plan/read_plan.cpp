#include "engine/plan/read_plan.hpp"

#include <array>
#include <charconv>
#include <concepts>

#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/json/parse_json.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

// Reads fields of an object; remembers the first invalid one.
class Reader {
 public:
  Reader(const Json& json, std::string& fault) : json_(json), fault_(fault) {
    if (!json.is_object()) blame("sections, pieces, ...");
  }

  template <typename T>
  Reader& take(const char* name, T& out) {
    const Json* value = find(name);
    if (value == nullptr || value->is_null()) return *this;
    if (!read(*value, out)) blame(name);
    return *this;
  }
  // One of `all`, by its name.
  template <typename Enum, std::size_t N>
  Reader& take_name(const char* name, Enum& out, const std::array<Enum, N>& all) {
    std::string text;
    take(name, text);
    if (text.empty()) return *this;
    for (const Enum one : all) {
      if (name_of(one) != text) continue;
      out = one;
      return *this;
    }
    blame(name);
    return *this;
  }
  template <typename Entry>
  void take_list(const char* name, std::vector<Entry>& out, Entry (*entry_of)(const Json&, std::string&)) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) return blame(name);
    for (const Json& entry : *value) out.push_back(entry_of(entry, fault_));
  }
  const Json* find(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

 private:
  static bool read(const Json& value, std::string& out) {
    if (!value.is_string()) return false;
    out = value.get<std::string>();
    return true;
  }
  static bool read(const Json& value, bool& out) {
    if (!value.is_boolean()) return false;
    out = value.get<bool>();
    return true;
  }
  static bool read(const Json& value, double& out) {
    if (!value.is_number()) return false;
    out = value.get<double>();
    return true;
  }
  // No plan has a larger number, and sums of such numbers stay exact.
  static bool read(const Json& value, std::int64_t& out) {
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{budget::most_tokens})
      return false;
    out = value.get<std::int64_t>();
    return out >= -budget::most_tokens;
  }
  static bool read(const Json& value, std::vector<std::string>& out) {
    if (!value.is_array()) return false;
    for (const Json& entry : value) {
      if (!entry.is_string()) return false;
      out.push_back(entry.get<std::string>());
    }
    return true;
  }
  void blame(const char* name) {
    if (fault_.empty()) fault_ = name;
  }

  const Json& json_;
  std::string& fault_;
};

constexpr std::array exactnesses{Exactness::exact, Exactness::calibrated, Exactness::estimated};
constexpr std::array sources{WindowSource::configured, WindowSource::served,    WindowSource::requestable,
                             WindowSource::declared,   WindowSource::catalogue, WindowSource::assumed};
constexpr std::array confidences{Confidence::high, Confidence::medium, Confidence::low};
constexpr std::array strategies{Strategy::stuff, Strategy::hybrid, Strategy::rag, Strategy::rag_graph};
constexpr std::array policies{Policy::balanced, Policy::history, Policy::documents,
                              Policy::answer,   Policy::strict,  Policy::document_chat};
constexpr std::array kinds{SectionKind::format,   SectionKind::system,   SectionKind::tools,
                           SectionKind::memory,   SectionKind::history,  SectionKind::context,
                           SectionKind::question, SectionKind::thinking, SectionKind::answer,
                           SectionKind::margin};
static_assert(kinds.size() == section_kinds);

WindowAttempt attempt_of(const Json& json, std::string& fault) {
  WindowAttempt out;
  Reader(json, fault).take("way", out.way).take("result", out.result);
  return out;
}

PlannedSection section_of(const Json& json, std::string& fault) {
  PlannedSection out;
  Section& section = out.section;
  Reader(json, fault)
      .take_name("name", section.kind, kinds)
      .take("basis", section.basis)
      .take("min", section.min)
      .take("max", section.max)
      .take("grow", section.grow)
      .take("shrink", section.shrink)
      .take("grant", out.grant)
      .take("used", out.used)
      .take_name("exactness", out.exactness, exactnesses);
  return out;
}

// What an id says of its piece.
std::optional<std::size_t> message_in(std::string_view id) {
  constexpr std::string_view begin = "messages[";
  std::size_t place = 0;
  if (!id.starts_with(begin)) return std::nullopt;
  const auto read = std::from_chars(id.data() + begin.size(), id.data() + id.size(), place);
  return read.ec == std::errc() ? std::optional(place) : std::nullopt;
}

PlannedPiece piece_of(const Json& json, std::string& fault) {
  PlannedPiece out;
  std::string fate = "kept";
  Reader(json, fault)
      .take_name("section", out.section, kinds)
      .take("id", out.id)
      .take("tokens", out.tokens)
      .take("fate", fate)
      .take("reason", out.reason);
  out.fate = fate == "kept" ? Fate::kept : Fate::no_room;  // the reason has the details
  out.message = message_in(out.id);
  out.is_recalled = out.section == SectionKind::history && out.id.starts_with("turn:");
  return out;
}

FallbackCandidate candidate_of(const Json& json, std::string& fault) {
  FallbackCandidate out;
  Reader(json, fault).take("model", out.model).take("window", out.window).take("verdict", out.verdict);
  return out;
}

PlannedPrice price_of(const Json& json, std::string& fault) {
  PlannedPrice out;
  Reader(json, fault)
      .take("change", out.change)
      .take("fits", out.fits)
      .take("aboard", out.added)  // in plans of earlier versions
      .take("added", out.added)
      .take("gone", out.gone)
      .take("answer", out.answer)
      .take("thinking", out.thinking);
  return out;
}

void read_parts(const Reader& plan, Plan& out, std::string& fault) {
  if (const Json* json = plan.find("window")) {
    Reader window(*json, fault);
    window.take("tokens", out.window.tokens)
        .take_name("source", out.window.source, sources)
        .take_name("confidence", out.window.confidence, confidences)
        .take("served_now", out.window.served_now)
        .take_list("tried", out.window.tried, attempt_of);
  }
  if (const Json* json = plan.find("strategy")) {
    Reader(*json, fault)
        .take_name("strategy", out.strategy.strategy, strategies)
        .take("reasoning", out.strategy.reasoning)
        .take("content_tokens", out.strategy.content.tokens);
  }
  if (const Json* json = plan.find("fallback")) {
    FallbackDecision& fallback = out.fallback;
    Reader reader(*json, fault);
    reader.take("from", fallback.from)
        .take("to", fallback.to)
        .take("needed", fallback.needed)
        .take("total", fallback.total)
        .take("threshold", fallback.threshold)
        .take("required", fallback.required)
        .take("reason", fallback.reason)
        .take_list("considered", fallback.considered, candidate_of);
  }
}

PlannedSummary summary_of(const Json& json, std::string& fault) {
  PlannedSummary out;
  Reader(json, fault)
      .take("id", out.id)
      .take("how", out.how)
      .take("known", out.known)
      .take("model", out.model)
      .take("turns", out.turns)
      .take("messages", out.messages)
      .take("replaces", out.replaces)
      .take("tokens_before", out.before)
      .take("tokens_after", out.after);
  return out;
}

}  // namespace

Result<Plan> read_plan(std::string_view text) {
  if (const auto shape = base::check_json_shape(text, "the plan"); !shape)
    return fail(Errc::damaged, "{}", shape.error().what);
  const Json json = base::parse_json(text);
  if (!json.is_object()) return fail(Errc::damaged, "not a plan: expected a JSON object");
  std::string fault;
  Plan out;
  Reader plan(json, fault);
  plan.take("model", out.model)
      .take("hash", out.hash)
      .take_name("policy", out.policy, policies)
      .take("fits", out.fits)
      .take("least_window", out.least)
      .take("input_tokens", out.input)
      .take("thinking_tokens", out.thinking)
      .take("answer_tokens", out.answer)
      .take("margin", out.margin)
      .take("left", out.left)
      .take("pressure", out.pressure)
      .take_name("exactness", out.exactness, exactnesses)
      .take("why", out.why)
      .take("messageCount", out.message_count)
      .take("memoryCount", out.memory_count)
      .take("warnings", out.warnings);
  read_parts(plan, out, fault);
  if (const Json* summary = plan.find("summary")) out.summary = summary_of(*summary, fault);
  plan.take_list("sections", out.sections, section_of);
  plan.take_list("pieces", out.pieces, piece_of);
  plan.take_list("shadow_prices", out.prices, price_of);
  if (!fault.empty()) return fail(Errc::damaged, "not a plan: the field '{}' is invalid", fault);
  return out;
}

}  // namespace plimsoll::engine
