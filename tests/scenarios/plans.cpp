// Whole plans, through real tokenizers and templates.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/paths.hpp"
#include "plimsoll/plan.hpp"
#include "scenario.hpp"

namespace plimsoll::scenarios {
namespace {

using Json = nlohmann::ordered_json;

// words=300 is three hundred times one word, which is a token in every tokenizer that scenarios use.
std::string text_of(const Line& line, std::size_t from) {
  if (!line.has("words")) return line.words.size() > from ? line.words[from] : "";
  std::string text;
  for (std::int64_t i = 0; i < line.number("words"); ++i) text += i == 0 ? "ship" : " ship";
  return text;
}

Json message_of(const Line& line) {
  Json message{{"role", line.word(0)}, {"content", text_of(line, 1)}};
  if (line.has("calls"))
    message["tool_calls"] = {{{"id", line.text("calls")},
                              {"type", "function"},
                              {"function", {{"name", "look"}, {"arguments", "{}"}}}}};
  if (line.has("answers")) message["tool_call_id"] = line.text("answers");
  return message;
}

std::string list_of(const Plan& plan, bool kept, std::string_view section) {
  std::string ids;
  for (const PlannedPiece& piece : plan.pieces)
    if ((piece.fate == Fate::kept) == kept && (section.empty() || name_of(piece.section) == section))
      ids += (ids.empty() ? "" : " ") + piece.id;
  return ids.empty() ? "nothing" : ids;
}

std::string shown(const Plan& plan, const Line& line, const std::string& what) {
  const std::string section = line.words.size() > 1 ? line.words[1] : "";
  if (what == "fits") return plan.fits ? "yes" : "no";
  if (what == "model") return plan.model;
  if (what == "window") return fmt::format("{} {}", plan.window.tokens, name_of(plan.window.source));
  if (what == "answer") return std::to_string(plan.answer);
  if (what == "thinking") return std::to_string(plan.thinking);
  if (what == "margin") return std::to_string(plan.margin);
  if (what == "least") return std::to_string(plan.least);
  if (what == "messages") return std::to_string(plan.message_count);
  if (what == "memories") return std::to_string(plan.memory_count);
  if (what == "exactness") return std::string(name_of(plan.exactness));
  if (what == "kept") return list_of(plan, true, section);
  if (what == "dropped") return list_of(plan, false, section);
  if (what == "most" || what == "used") {
    for (const PlannedSection& planned : plan.sections)
      if (name_of(planned.section.kind) == section)
        return std::to_string(what == "most" ? planned.section.max : planned.used);
  }
  if (what == "fallback") return plan.fallback.to.empty() ? "none" : plan.fallback.to;
  if (what == "law")
    return plan.left >= 0 &&
                   plan.input + plan.thinking + plan.answer + plan.margin + plan.left == plan.window.tokens
               ? "holds"
               : "broken";
  if (what == "warns")
    return std::ranges::any_of(
               plan.warnings,
               [&](const std::string& warning) { return warning.find(section) != std::string::npos; })
               ? section
               : "no such warning";
  throw std::runtime_error("no plan shows '" + what + "'");
}

}  // namespace

std::string play_plan(const std::vector<Line>& given) {
  static const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  static const auto cache = base::cache_folder(base::current_environment());
  static const TokenizerLibrary library(cache / "assets", cache / "tokenizers");

  const Line& first = given.front();
  Json request{{"messages", Json::array()}};
  PlanOptions options;
  if (first.has("max_tokens")) options.max_tokens = first.number("max_tokens");
  if (first.has("policy")) options.policy = policy_named(first.text("policy"));
  if (first.has("max_history_turns")) options.max_history_turns = first.number("max_history_turns");
  options.fallback_models = split(first.text("fallback"), ',');
  options.fallback = !options.fallback_models.empty();
  if (first.has("ratio")) request["context_token_ratio"] = first.real("ratio");
  if (first.has("thinking")) request["plimsoll"]["thinking"] = first.number("thinking");
  std::vector<const Line*> shows;
  for (std::size_t i = 1; i < given.size(); ++i) {
    const Line& line = given[i];
    if (line.verb == "message") {
      for (std::int64_t times = line.number("times", 1); times > 0; --times)
        request["messages"].push_back(message_of(line));
    } else if (line.verb == "passage") {
      request["plimsoll"]["passages"].push_back(
          {{"id", line.word(0)}, {"text", text_of(line, 1)}, {"score", line.real("score")}});
    } else if (line.verb == "memory") {
      request["plimsoll"]["memories"].push_back(
          {{"id", line.word(0)}, {"text", text_of(line, 1)}, {"importance", line.real("importance")}});
    } else if (line.verb == "show") {
      shows.push_back(&line);
    } else {
      throw std::runtime_error("a plan has no '" + line.verb + "'");
    }
  }
  const std::string model = first.text("model", "gpt-4o");
  CatalogueModels models(catalogue, library);
  if (first.has("window"))
    models.set_window(model, {first.number("window"), WindowSource::configured, Confidence::high, {}});
  const auto plan = plan_request(request.dump(), model, options, models);
  if (!plan) return fmt::format("error {}: {}\n", name_of(plan.error().code), plan.error().what);
  std::string out;
  for (const Line* line : shows)
    out += fmt::format("{} {}\n", line->rest, shown(*plan, *line, line->word(0)));
  return out;
}

}  // namespace plimsoll::scenarios
