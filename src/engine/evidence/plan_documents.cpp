#include <algorithm>

#include "base/try.hpp"
#include "engine/evidence/harmless.hpp"
#include "engine/history/compress.hpp"
#include "engine/plan/plan.hpp"
#include "engine/request_state.hpp"

namespace plimsoll::engine {
namespace {

// Returns the order for the request or the upstream; none: document order.
std::optional<PassageOrder> order_for(const Engine& engine, const RequestState& state, std::size_t server) {
  if (state.parts.wishes.order) return state.parts.wishes.order;
  const bool ollama = engine.models.upstreams().kind_of(server) == ServerKind::ollama;
  if (ollama && engine.rules.best_last_for_ollama) return PassageOrder::best_last;
  return std::nullopt;
}

void put_in(RequestState& state, const PlanModel& model, std::vector<FoundPassage> found) {
  state.parts.passages.clear();
  state.parts.score.clear();
  state.defused_in_passages = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    state.parts.passages.push_back(prompt_passage(found[i].passage, i + 1, model, state.defused_in_passages));
    state.parts.score.push_back(static_cast<double>(found[i].passage.score));
  }
  state.passages = std::move(found);
}

// Returns the tokens of passages that did not fit into the plan.
Tokens without_room(const Plan& plan) {
  Tokens tokens = 0;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.section == SectionKind::context && piece.fate == Fate::no_room) tokens += piece.tokens;
  return tokens;
}

// Returns the budget for passages: all unclaimed tokens, and at least a fair share of a window that history
// has filled; the negotiator decides. The requested answer comes first; growing it comes after passages.
Tokens budget_for_passages(const Plan& without) {
  const PlannedSection& answer = without.sections[static_cast<std::size_t>(SectionKind::answer)];
  const Tokens growth = std::max<Tokens>(0, without.answer - answer.section.basis);
  const Tokens fair = budget::fair_context(without.window.tokens);
  const Tokens room = std::max(without.left + growth, fair);
  return std::min(room, without.context_limit.value_or(room));
}

// Counts against the budget; a small budget is used for passages only.
std::string instruction_for(const Engine& engine, const Plan& without, const PlanModel& model, Tokens budget,
                            std::string& warning) {
  std::string instruction =
      engine.rules.instruction.value_or(std::string(render::instruction_for(without.policy)));
  const Tokens tokens = model.tokenizer.count(instruction);
  constexpr Tokens most_share = 5;
  if (most_share * tokens <= budget) return instruction;
  if (engine.rules.instruction)
    warning = fmt::format(
        "passage_instruction was left out: it has {} tokens, more than 1/{} of the {} tokens for "
        "passages",
        tokens, most_share, std::max<Tokens>(0, budget));
  return {};
}

// Chooses the rule that limits the passages of this request.
ConsultRules rules_for(Engine& engine, RequestState& state, const Plan& without, const PlanOptions& options) {
  ConsultRules rules = engine.rules.consult;
  const models::Upstreams& upstreams = engine.models.upstreams();
  const auto fallback = without.fallback.to.empty() ? Result<models::ModelLocation>(state.location)
                                                    : upstreams.find(without.fallback.to);
  const std::size_t server = fallback ? fallback->member : state.location.member;  // that will answer
  rules.order = order_for(engine, state, server);
  // A requested ratio or budget is filled; otherwise passages stop when the evidence does.
  rules.fills = state.parts.wishes.budget || state.parts.context_ratio;
  if (upstreams.is_embedded(server)) {
    rules.passages = rules.embedded_passages;
    rules.pastes = false;
  }
  if (without.policy != Policy::document_chat || state.parts.context_ratio) return rules;
  state.retrieval = choose_retrieval(
      without, options, state.ask.documents ? state.ask.documents->top_k : options.retrieval.max_top_k);
  rules.most_passages = static_cast<std::size_t>(state.retrieval->used());
  if (state.plans > 1) return rules;
  log_retrieval(*state.retrieval, rules.order == PassageOrder::best_last);
  if (state.retrieval->used() == 0)
    state.trace.warnings.emplace_back("no room for passages besides the question and the answer (B1)");
  return rules;
}

// Chooses passages for the budget and plans with them, or with fewer if they do not all fit. Returns true
// if all documents were chosen, near the question or not.
Result<bool> plan_with_passages(RequestState& state, const PlanOptions& options, const PlanModels& models,
                                const PlanModel& model, const ConsultRules& rules, Tokens budget) {
  constexpr int most_selections = 6;
  const Tokens used = state.plan.input;  // without passages
  StrategyDecision strategy;
  bool is_all = false;
  for (int round = 0; round < most_selections && budget > 0; ++round) {
    TRY(Reading reading, read_documents(*state.findings, state.parts, model, used, budget, rules));
    strategy = std::move(reading.strategy);
    is_all = reading.is_all;
    state.plan.strategy = strategy;
    if (reading.passages.empty()) break;
    put_in(state, model, std::move(reading.passages));
    TRY(state.plan, plan_parts(state.parts, state.model, options, models));
    state.plan.strategy = strategy;
    const Tokens dropped = without_room(state.plan);
    if (dropped == 0) break;
    const PlannedSection& context = state.plan.sections[static_cast<std::size_t>(SectionKind::context)];
    const Tokens over = context.used + dropped - context.grant;
    budget = over > 0 ? budget - over : std::min(budget - 1, context.grant);
  }
  // Renumbers, so that numbers in the prompt have no gaps.
  const std::vector<std::size_t> places = passages_in_plan(state);
  if (places.size() == state.passages.size()) return is_all;
  std::vector<FoundPassage> kept;
  for (const std::size_t place : places) kept.push_back(std::move(state.passages[place]));
  put_in(state, model, std::move(kept));
  TRY(state.plan, plan_parts(state.parts, state.model, options, models));
  state.plan.strategy = std::move(strategy);
  return is_all;
}

// Returns why an answer has no documents; empty if it has some.
std::string why_without(const RequestState& state, Tokens budget) {
  if (!passages_in_plan(state).empty()) return {};
  const std::string& index = state.parts.wishes.index;
  if (state.findings->index->tokens == 0) return fmt::format("The index '{}' is empty.", index);
  if (state.findings->evidence.stretches.empty())
    return fmt::format("Nothing in the index '{}' is near the question.", index);
  return fmt::format("No passage of the index '{}' fits into the {} tokens that are left for passages.",
                     index, std::max<Tokens>(0, budget));
}

}  // namespace

Result<Again> plan_with_documents(Engine& engine, RequestState& state, const PlanOptions& options,
                                  const PlanModels& models, Deadline deadline) {
  const auto begin = Deadline::Clock::now();
  if (state.passages.empty() && !state.parts.passages.empty())  // the client's own
    state.trace.warnings.push_back(fmt::format(
        "plimsoll.passages were left out: the index '{}' provides the passages", state.parts.wishes.index));
  state.parts.passages.clear();
  state.parts.score.clear();
  state.passages.clear();
  state.without_documents.clear();
  state.nothing_near.clear();
  TRY(Plan without, plan_parts(state.parts, state.model, options, models));
  state.plan = std::move(without);
  if (compression_is_due(engine, state)) return Replan::history_too_long;  // passages are chosen after it
  without = std::move(state.plan);
  const ConsultRules rules = rules_for(engine, state, without, options);
  if (!state.findings) {
    TRY(state.findings, find_in_documents(*engine.open_indexes, state.ask.caller.indexes, state.parts,
                                          without.window.tokens - without.input, rules, deadline));
    for (const std::string& note : state.findings->notes) state.trace.warnings.push_back(note);
  }
  TRY(const PlanModel model,
      without.fallback.to.empty() ? models.open(state.model) : models.open_fallback(without.fallback.to));
  const Tokens budget = budget_for_passages(without);
  std::string instruction_warning;
  state.parts.instruction = instruction_for(engine, without, model, budget, instruction_warning);
  state.plan = std::move(without);
  TRY(const bool is_all, plan_with_passages(state, options, models, model, rules, budget));
  state.without_documents = why_without(state, budget);
  if (!state.without_documents.empty())
    state.plan.warnings.push_back("Answered without documents. " + state.without_documents);
  if (!instruction_warning.empty()) state.plan.warnings.push_back(std::move(instruction_warning));
  if (!state.findings->is_near && !is_all && state.without_documents.empty()) {
    state.nothing_near = fmt::format(
        "Nothing in the index '{}' is near the question. The passages are the nearest ones, and may have "
        "nothing to do with it.",
        state.parts.wishes.index);
    state.plan.warnings.push_back(state.nothing_near);
  }
  if (state.without_documents.empty() && state.defused_in_passages > 0)
    state.plan.warnings.push_back(
        fmt::format("{} special-token strings in passages were escaped", state.defused_in_passages));
  state.trace.retrieve_us +=
      std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
  return compression_is_due(engine, state) ? Again(Replan::history_too_long) : std::nullopt;
}

}  // namespace plimsoll::engine
