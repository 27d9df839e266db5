#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "engine/history/compress.hpp"
#include "engine/plan/plan.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {
namespace {

// Returns the order for the request or the upstream; none: document order.
std::optional<PassageOrder> order_for(const Engine& engine, const Request& request, std::size_t server) {
  if (request.chat.wishes.order) return request.chat.wishes.order;
  const bool ollama = engine.models.upstreams().kind_of(server) == ServerKind::ollama;
  if (ollama && engine.rules.best_last_for_ollama) return PassageOrder::best_last;
  return std::nullopt;
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

// The rules that limit the passages of this request.
struct Limits {
  ConsultRules rules;
  std::optional<RetrievalChoice> retrieval{};
};
Limits limits_for(const Engine& engine, const Received& received, const Request& request,
                  const Attempt& attempt, const Plan& without, const PlanOptions& options) {
  Limits limits{engine.rules.consult};
  ConsultRules& rules = limits.rules;
  const models::Upstreams& upstreams = engine.models.upstreams();
  const auto fallback = without.fallback.to.empty() ? Result<models::ModelLocation>(attempt.location)
                                                    : upstreams.find(without.fallback.to);
  const std::size_t server = fallback ? fallback->member : attempt.location.member;  // that will answer
  rules.order = order_for(engine, request, server);
  // A requested ratio or budget is filled; otherwise passages stop when the evidence does.
  rules.fills = request.chat.wishes.budget || request.chat.context_ratio;
  if (upstreams.is_embedded(server)) {
    rules.passages = rules.embedded_passages;
    rules.pastes = false;
  }
  if (without.policy != Policy::document_chat || request.chat.context_ratio) return limits;
  const auto& documents = received.ask.documents;
  limits.retrieval =
      choose_retrieval(without, options, documents ? documents->top_k : options.retrieval.max_top_k);
  rules.most_passages = static_cast<std::size_t>(limits.retrieval->used());
  return limits;
}

std::int64_t microseconds_since(Deadline::Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
}

// Chooses passages for a budget and plans with them.
class DocumentPlanner {
 public:
  DocumentPlanner(const Request& request, const Attempt& attempt, const Findings& findings,
                  const ConsultRules& rules, const PlanModel& model, const PlanOptions& options,
                  const PlanModels& models)
      : request_(request),
        attempt_(attempt),
        findings_(findings),
        rules_(rules),
        model_(model),
        options_(options),
        models_(models) {}

  // Plans with the passages that fit, or with fewer if they do not all fit. `without`: the plan without them.
  Result<void> plan(Plan without, chat::Additions with, Tokens budget) {
    constexpr int most_selections = 6;
    PassageRoom room{without.input, budget, with.instruction};
    with_ = std::move(with);
    plan_ = std::move(without);
    StrategyDecision strategy;
    for (int round = 0; round < most_selections && room.budget > 0; ++round) {
      const auto begin = Deadline::Clock::now();
      TRY(Reading reading, read_documents(findings_, request_.chat, model_, room, rules_));
      read_us_ += microseconds_since(begin);
      strategy = std::move(reading.strategy);
      takes_all_ = reading.is_all;
      left_out_ = std::move(reading.left_out);
      plan_.strategy = strategy;
      if (reading.passages.empty()) break;
      TRY_VOID(plan_with(std::move(reading.passages)));
      plan_.strategy = strategy;
      const Tokens dropped = without_room(plan_);
      if (dropped == 0) break;
      const PlannedSection& context = plan_.sections[static_cast<std::size_t>(SectionKind::context)];
      const Tokens over = context.used + dropped - context.grant;
      room.budget = over > 0 ? room.budget - over : std::min(room.budget - 1, context.grant);
    }
    // Renumbers, so that numbers in the prompt have no gaps.
    const std::vector<std::size_t> places = passages_in_plan(plan_, passages_.size());
    if (places.size() == passages_.size()) return {};
    const PlannedSection& context = plan_.sections[static_cast<std::size_t>(SectionKind::context)];
    for (std::size_t i = 0; i < passages_.size(); ++i)
      if (std::ranges::find(places, i) == places.end())
        left_out_.push_back(
            {passages_[i].passage.document, fmt::format("chosen, but the window left {} tokens for passages",
                                                        base::with_thousands(context.grant))});
    std::vector<FoundPassage> kept;
    for (const std::size_t place : places) kept.push_back(std::move(passages_[place]));
    TRY_VOID(plan_with(std::move(kept)));
    plan_.strategy = std::move(strategy);
    return {};
  }

  // Returns whether all documents were chosen, near the question or not.
  bool takes_all() const { return takes_all_; }
  const std::vector<LeftOutDocument>& left_out() const { return left_out_; }
  std::int64_t read_us() const { return read_us_; }  // spent on choosing passages
  // The result; to be called once.
  Planned take_planned() {
    Planned out;
    out.plan = std::move(plan_);
    out.documents.passages = std::move(passages_);
    out.documents.shown = std::move(with_.passages);
    out.documents.escaped = escaped_;
    return out;
  }

 private:
  Result<void> plan_with(std::vector<FoundPassage> found) {
    with_.passages.clear();
    with_.score.clear();
    escaped_ = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      with_.passages.push_back(prompt_passage(found[i].passage, i + 1, model_, escaped_));
      with_.score.push_back(static_cast<double>(found[i].passage.score));
    }
    passages_ = std::move(found);
    TRY(plan_, plan_parts(request_.chat, with_, attempt_.model, options_, models_));
    return {};
  }

  const Request& request_;
  const Attempt& attempt_;
  const Findings& findings_;
  const ConsultRules& rules_;
  const PlanModel& model_;
  const PlanOptions& options_;
  const PlanModels& models_;
  Plan plan_;
  chat::Additions with_;
  std::vector<FoundPassage> passages_;
  std::vector<LeftOutDocument> left_out_;
  std::size_t escaped_ = 0;
  bool takes_all_ = false;
  std::int64_t read_us_ = 0;
};

// Returns why an answer has no documents; empty if it has some.
std::string why_without(const std::string& index, const Findings& findings, const ConsultRules& rules,
                        const Planned& planned, Tokens budget) {
  if (!passages_in_plan(planned).empty()) return {};
  if (findings.index->tokens == 0) return fmt::format("The index '{}' is empty.", index);
  if (rules.similarity_threshold && !findings.is_near)
    return fmt::format(
        "Nothing in the index '{}' is within the distance of {} (rag_similarity_threshold) of the question.",
        index, *rules.similarity_threshold);
  if (findings.evidence.stretches.empty())
    return fmt::format("Nothing in the index '{}' is near the question.", index);
  return fmt::format("No passage of the index '{}' fits into the {} tokens that are left for passages.",
                     index, base::with_thousands(std::max<Tokens>(0, budget)));
}

// Completes what is told about the documents, with warnings in the plan.
void explain_documents(const Request& request, const Findings& findings, const ConsultRules& rules,
                       Tokens budget, const DocumentPlanner& planner, Planned& planned) {
  constexpr std::size_t most_listed = 20;
  const std::string& index = request.chat.wishes.index;
  Consulted& documents = planned.documents;
  std::vector<std::string>& warnings = planned.plan.warnings;
  documents.left_out = left_out_of(findings, passages_in_plan(planned), documents.passages,
                                   planner.left_out(), most_for_passages(rules, budget));
  documents.left_out_total = std::ssize(documents.left_out);
  if (documents.left_out.size() > most_listed) documents.left_out.resize(most_listed);
  documents.without_documents = why_without(index, findings, rules, planned, budget);
  if (!documents.without_documents.empty())
    warnings.push_back("Answered without documents. " + documents.without_documents);
  if (!findings.is_near && !planner.takes_all() && documents.without_documents.empty())
    documents.nothing_near = fmt::format(
        "Nothing in the index '{}' is near the question. The passages are the nearest ones, and may have "
        "nothing to do with it.",
        index);
}

}  // namespace

std::vector<std::size_t> passages_in_plan(const Plan& plan, std::size_t passages) {
  std::vector<std::size_t> kept;
  std::size_t at = 0;
  for (const PlannedPiece& piece : plan.pieces) {
    if (piece.section != SectionKind::context) continue;
    if (at < passages && piece.fate == Fate::kept) kept.push_back(at);
    ++at;
  }
  return kept;
}

std::vector<std::size_t> passages_in_plan(const Planned& planned) {
  return passages_in_plan(planned.plan, planned.documents.passages.size());
}

Result<PlanStep> plan_with_documents(const Engine& engine, const Received& received, const Request& request,
                                     const Attempt& attempt, chat::Additions with, const PlanOptions& options,
                                     const PlanModels& models, Deadline deadline) {
  PlanStep step;
  step.found = attempt.found;
  std::vector<std::string>& warnings = step.notes.warnings;
  TRY(Plan without, plan_parts(request.chat, with, attempt.model, options, models));
  step.again = replan_due(engine, request.chat, attempt, without);
  if (step.again) {  // passages are chosen after it
    step.planned.plan = std::move(without);
    return step;
  }
  const Limits limits = limits_for(engine, received, request, attempt, without, options);
  if (limits.retrieval && limits.retrieval->used() == 0)
    warnings.emplace_back("no room for passages besides the question and the answer (B1)");
  if (!step.found) {
    if (limits.retrieval) log_retrieval(*limits.retrieval, limits.rules.order == PassageOrder::best_last);
    const auto begin = Deadline::Clock::now();
    TRY(Findings found,
        find_in_documents(*engine.open_indexes, received.ask.caller.indexes, request.chat, request.rewritten,
                          without.window.tokens - without.input, limits.rules, deadline));
    step.found = std::make_shared<const Findings>(std::move(found));
    step.notes.retrieve_us = microseconds_since(begin);
  }
  warnings.insert(warnings.end(), step.found->notes.begin(), step.found->notes.end());
  TRY(const PlanModel model,
      without.fallback.to.empty() ? models.open(attempt.model) : models.open_fallback(without.fallback.to));
  const Tokens budget = budget_for_passages(without);
  std::string instruction_warning;
  with.instruction = instruction_for(engine, without, model, budget, instruction_warning);
  DocumentPlanner planner(request, attempt, *step.found, limits.rules, model, options, models);
  TRY_VOID(planner.plan(std::move(without), std::move(with), budget));
  step.planned = planner.take_planned();
  Consulted& documents = step.planned.documents;
  documents.retrieval = limits.retrieval;
  explain_documents(request, *step.found, limits.rules, budget, planner, step.planned);
  std::vector<std::string>& told = step.planned.plan.warnings;
  if (!instruction_warning.empty()) told.push_back(std::move(instruction_warning));
  if (!documents.nothing_near.empty()) told.push_back(documents.nothing_near);
  if (documents.without_documents.empty() && documents.escaped > 0)
    told.push_back(fmt::format("{} special-token strings in passages were escaped", documents.escaped));
  step.notes.retrieve_us += planner.read_us();
  if (compression_is_due(engine, request.chat, attempt, step.planned.plan))
    step.again = Replan::Reason::history_too_long;
  return step;
}

}  // namespace plimsoll::engine
