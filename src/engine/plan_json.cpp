#include <nlohmann/json.hpp>

#include "plimsoll/plan.hpp"
#include "strategy/decision_json.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

Json window_json(const Window& window) {
  Json tried = Json::array();
  for (const WindowAttempt& attempt : window.tried)
    tried.push_back({{"way", attempt.way}, {"result", attempt.result}});
  return {{"tokens", window.tokens},
          {"source", name_of(window.source)},
          {"confidence", name_of(window.confidence)},
          {"tried", std::move(tried)}};
}

Json fallback_json(const FallbackDecision& decision) {
  Json considered = Json::array();
  for (const FallbackCandidate& candidate : decision.considered)
    considered.push_back(
        {{"model", candidate.model}, {"window", candidate.window}, {"verdict", candidate.verdict}});
  return {{"from", decision.from},
          {"to", decision.to.empty() ? Json() : Json(decision.to)},
          {"needed", decision.needed},
          {"total", decision.total},
          {"threshold", decision.threshold},
          {"required", decision.required},
          {"considered", std::move(considered)},
          {"reason", decision.reason}};
}

Json sections_json(const Plan& plan) {
  Json sections = Json::array();
  for (const PlannedSection& planned : plan.sections)
    sections.push_back({{"name", name_of(planned.section.kind)},
                        {"basis", planned.section.basis},
                        {"min", planned.section.min},
                        {"max", planned.section.max},
                        {"grow", planned.section.grow},
                        {"shrink", planned.section.shrink},
                        {"grant", planned.grant},
                        {"used", planned.used},
                        {"exactness", name_of(planned.exactness)}});
  return sections;
}

Json pieces_json(const Plan& plan) {
  Json pieces = Json::array();
  for (const PlannedPiece& piece : plan.pieces)
    pieces.push_back({{"section", name_of(piece.section)},
                      {"id", piece.id},
                      {"tokens", piece.tokens},
                      {"fate", piece.fate == Fate::kept ? "kept" : "dropped"},
                      {"reason", piece.reason}});
  return pieces;
}

Json prices_json(const Plan& plan) {
  Json prices = Json::array();
  for (const PlannedPrice& price : plan.prices)
    prices.push_back({{"change", price.change},
                      {"fits", price.fits},
                      {"aboard", price.aboard},
                      {"gone", price.gone},
                      {"answer", price.answer},
                      {"thinking", price.thinking}});
  return prices;
}

}  // namespace

std::string plan_json(const Plan& plan) {
  Json json{{"schema", schema},
            {"hash", plan.hash},
            {"model", plan.model},
            {"window", window_json(plan.window)},
            {"policy", name_of(plan.policy)},
            {"fits", plan.fits},
            {"least_window", plan.least},
            {"input_tokens", plan.input},
            {"thinking_tokens", plan.thinking},
            {"answer_tokens", plan.answer},
            {"margin", plan.margin},
            {"left", plan.left},
            {"pressure", plan.pressure},
            {"exactness", name_of(plan.exactness)},
            {"why", plan.why},
            {"messageCount", plan.message_count},
            {"memoryCount", plan.memory_count},
            {"inputTokenCount", plan.input},
            {"adjustedMaxTokens", plan.answer},
            {"sections", sections_json(plan)},
            {"pieces", pieces_json(plan)},
            {"strategy", strategy::to_json(plan.strategy)},
            {"fallback", fallback_json(plan.fallback)},
            {"shadow_prices", prices_json(plan)},
            {"warnings", plan.warnings}};
  if (plan.hash.empty()) json.erase("hash");
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll
