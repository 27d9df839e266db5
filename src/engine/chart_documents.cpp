#include <algorithm>

#include "base/try.hpp"
#include "engine/compress.hpp"
#include "engine/course.hpp"
#include "engine/harmless.hpp"
#include "engine/plan.hpp"

namespace plimsoll::engine {
namespace {

// The order that the request or the upstream asks for; none: the documents' own.
std::optional<PassageOrder> order_for(const Engine& engine, const Course& course, std::size_t server) {
  if (course.parts.wishes.order) return course.parts.wishes.order;
  const bool ollama = engine.models.fleet().kind_of(server) == ServerKind::ollama;
  if (ollama && engine.rules.best_last_for_ollama) return PassageOrder::best_last;
  return std::nullopt;
}

void put_in(Course& course, const PlanModel& model, std::vector<FoundPassage> found) {
  course.parts.passages.clear();
  course.parts.score.clear();
  course.defused_in_passages = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    course.parts.passages.push_back(
        prompt_passage(found[i].passage, i + 1, model, course.defused_in_passages));
    course.parts.score.push_back(static_cast<double>(found[i].passage.score));
  }
  course.passages = std::move(found);
}

// Tokens of passages that found no room in the plan.
Tokens without_room(const Plan& plan) {
  Tokens tokens = 0;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.section == SectionKind::context && piece.fate == Fate::no_room) tokens += piece.tokens;
  return tokens;
}

// What passages may take: all that nothing else wants, and at least a fair share of a window that history has
// filled, where the negotiator has the last word. The answer's wish counts; its growth comes after passages.
Tokens budget_for_passages(const Plan& without) {
  const PlannedSection& answer = without.sections[static_cast<std::size_t>(SectionKind::answer)];
  const Tokens growth = std::max<Tokens>(0, without.answer - answer.section.basis);
  const Tokens fair = std::min<Tokens>(4'000, without.window.tokens / 4);
  const Tokens room = std::max(without.left + growth, fair);
  return std::min(room, without.context_limit.value_or(room));
}

// Counted against the budget; a small one is for passages alone.
std::string instruction_for(const Engine& engine, const Plan& without, const PlanModel& model, Tokens budget,
                            std::string& warning) {
  std::string instruction =
      engine.rules.instruction.value_or(std::string(render::instruction_for(without.policy)));
  const Tokens tokens = model.tokenizer.count(instruction);
  constexpr Tokens most_share = 5;
  if (most_share * tokens <= budget) return instruction;
  if (engine.rules.instruction)
    warning = fmt::format(
        "passage_instruction was left out: it has {} tokens, and may have a {}th of the {} that "
        "passages have",
        tokens, most_share, std::max<Tokens>(0, budget));
  return {};
}

// Whichever rule of the spec bounds the passages of this request.
ConsultRules rules_for(Engine& engine, Course& course, const Plan& without, const PlanOptions& options) {
  ConsultRules rules = engine.rules.consult;
  const Fleet& fleet = engine.models.fleet();
  const auto fallback =
      without.fallback.to.empty() ? Result<Berth>(course.berth) : fleet.find(without.fallback.to);
  const std::size_t server = fallback ? fallback->member : course.berth.member;  // that answers
  rules.order = order_for(engine, course, server);
  // Who names a share or a budget wants it filled; else passages get what holds the evidence.
  rules.fills = course.parts.wishes.budget || course.parts.context_ratio;
  if (fleet.is_embedded(server)) {
    rules.passages = rules.embedded_passages;
    rules.pastes = false;
  }
  if (without.policy != Policy::document_chat || course.parts.context_ratio) return rules;
  course.retrieval = choose_retrieval(
      without, options, course.ask.documents ? course.ask.documents->top_k : options.retrieval.max_top_k);
  rules.most_passages = static_cast<std::size_t>(course.retrieval->used());
  if (course.plans > 1) return rules;
  log_retrieval(*course.retrieval, rules.order == PassageOrder::best_last);
  if (course.retrieval->used() == 0)
    course.trace.warnings.emplace_back(
        "there is no room for passages beside the question and the answer (B1)");
  return rules;
}

// Chooses passages for the budget and plans with them; with fewer where the plan cannot take them all. True
// where all documents were chosen, whatever is near the question.
Result<bool> plan_with_passages(Course& course, const PlanOptions& options, const PlanModels& models,
                                const PlanModel& model, const ConsultRules& rules, Tokens budget) {
  constexpr int most_selections = 6;
  const Tokens used = course.plan.input;  // without passages, in every round
  StrategyDecision strategy;
  bool is_all = false;
  for (int round = 0; round < most_selections && budget > 0; ++round) {
    TRY(Reading reading, read_documents(*course.findings, course.parts, model, used, budget, rules));
    strategy = std::move(reading.strategy);
    is_all = reading.is_all;
    course.plan.strategy = strategy;
    if (reading.passages.empty()) break;
    put_in(course, model, std::move(reading.passages));
    TRY(course.plan, plan_parts(course.parts, course.model, options, models));
    course.plan.strategy = strategy;
    const Tokens dropped = without_room(course.plan);
    if (dropped == 0) break;
    const PlannedSection& context = course.plan.sections[static_cast<std::size_t>(SectionKind::context)];
    const Tokens over = context.used + dropped - context.grant;
    budget = over > 0 ? budget - over : std::min(budget - 1, context.grant);
  }
  // Numbers in the prompt have no gaps.
  const std::vector<std::size_t> places = passages_aboard(course);
  if (places.size() == course.passages.size()) return is_all;
  std::vector<FoundPassage> kept;
  for (const std::size_t place : places) kept.push_back(std::move(course.passages[place]));
  put_in(course, model, std::move(kept));
  TRY(course.plan, plan_parts(course.parts, course.model, options, models));
  course.plan.strategy = std::move(strategy);
  return is_all;
}

// What an answer without documents says of itself; empty where it has some.
std::string why_without(const Course& course, Tokens budget) {
  if (!passages_aboard(course).empty()) return {};
  const std::string& index = course.parts.wishes.index;
  if (course.findings->shelf->tokens == 0) return fmt::format("The index '{}' is empty.", index);
  if (course.findings->evidence.stretches.empty())
    return fmt::format("Nothing in the index '{}' is near the question.", index);
  return fmt::format("No passage of the index '{}' fits into the {} tokens that are left for passages.",
                     index, std::max<Tokens>(0, budget));
}

}  // namespace

Result<void> plan_with_documents(Engine& engine, Course& course, const PlanOptions& options,
                                 const PlanModels& models, Deadline deadline) {
  const auto begin = Deadline::Clock::now();
  course.parts.passages.clear();
  course.parts.score.clear();
  course.passages.clear();
  course.without_documents.clear();
  course.nothing_near.clear();
  TRY(Plan without, plan_parts(course.parts, course.model, options, models));
  course.plan = std::move(without);
  if (compression_is_due(engine, course)) return {};  // passages are chosen for what it leaves
  without = std::move(course.plan);
  const ConsultRules rules = rules_for(engine, course, without, options);
  if (!course.findings) {
    TRY(course.findings, find_in_documents(*engine.shelf, course.ask.caller.indexes, course.parts,
                                           without.window.tokens - without.input, rules, deadline));
    for (const std::string& note : course.findings->notes) course.trace.warnings.push_back(note);
  }
  TRY(const PlanModel model,
      without.fallback.to.empty() ? models.open(course.model) : models.open_fallback(without.fallback.to));
  const Tokens budget = budget_for_passages(without);
  std::string instruction_warning;
  course.parts.instruction = instruction_for(engine, without, model, budget, instruction_warning);
  course.plan = std::move(without);
  TRY(const bool is_all, plan_with_passages(course, options, models, model, rules, budget));
  course.without_documents = why_without(course, budget);
  if (!course.without_documents.empty())
    course.plan.warnings.push_back("Answered without documents. " + course.without_documents);
  if (!instruction_warning.empty()) course.plan.warnings.push_back(std::move(instruction_warning));
  if (!course.findings->is_near && !is_all && course.without_documents.empty()) {
    course.nothing_near = fmt::format(
        "Nothing in the index '{}' is near the question. The passages are the nearest ones, and may have "
        "nothing to do with it.",
        course.parts.wishes.index);
    course.plan.warnings.push_back(course.nothing_near);
  }
  if (course.without_documents.empty() && course.defused_in_passages > 0)
    course.plan.warnings.push_back(fmt::format(
        "{} spellings of special tokens in passages were made harmless", course.defused_in_passages));
  course.trace.retrieve_us +=
      std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
  return {};
}

}  // namespace plimsoll::engine
