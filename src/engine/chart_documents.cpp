#include <algorithm>

#include "base/try.hpp"
#include "engine/compress.hpp"
#include "engine/course.hpp"
#include "engine/harmless.hpp"
#include "engine/plan.hpp"

namespace plimsoll::engine {
namespace {

PassageOrder order_for(const Engine& engine, const Course& course) {
  if (course.parts.wishes.order) return *course.parts.wishes.order;
  const bool ollama = engine.models.fleet().kind_of(course.berth.member) == ServerKind::ollama;
  return ollama && engine.rules.best_last_for_ollama ? PassageOrder::best_last : PassageOrder::document;
}

// What a passage's document is called in the prompt. The digits of a hash cost more tokens than a sentence,
// and tell a model nothing: the first of them keep documents apart.
std::string_view label_of(std::string_view key) {
  constexpr std::size_t hash_digits = 64, shown_digits = 8;
  const bool hash =
      key.size() == hash_digits && key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hash ? key.substr(0, shown_digits) : key;
}

void put_aboard(Course& course, const PlanModel& model, std::vector<FoundPassage> found) {
  course.parts.passages.clear();
  course.parts.score.clear();
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const SelectedPassage& passage = found[i].passage;
    std::string text = passage.lead.empty() ? passage.text : passage.lead + "\n" + passage.text;
    harmless += make_harmless(model, text);
    std::string id = fmt::format("{}: {}{}{}", i + 1, label_of(passage.key),
                                 passage.path.empty() ? "" : " > ", passage.path);
    harmless += make_harmless(model, id);
    course.parts.passages.push_back({std::move(id), std::move(text)});
    course.parts.score.push_back(static_cast<double>(passage.score));
  }
  if (harmless > 0)
    course.trace.warnings.push_back(
        fmt::format("{} spellings of special tokens in passages were made harmless", harmless));
  course.passages = std::move(found);
}

// Tokens of passages that the plan left out.
Tokens dropped_passages(const Plan& plan) {
  Tokens tokens = 0;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.section == SectionKind::context && piece.fate != Fate::kept) tokens += piece.tokens;
  return tokens;
}

Tokens context_grant(const Plan& plan) {
  return plan.sections[static_cast<std::size_t>(SectionKind::context)].grant;
}

// What the first selection may take: all the room there is, and at least a fair share of a window that
// history has filled; the negotiator has the last word.
Tokens first_budget(const Course& course, const Plan& without) {
  const Tokens fair = std::min<Tokens>(4'000, without.window.tokens / 4);
  Tokens room = std::max(without.left, fair);
  if (course.retrieval) room = std::min(room, course.retrieval->room.room);
  return course.parts.wishes.budget ? std::min(room, *course.parts.wishes.budget) : room;
}

}  // namespace

Result<void> plan_with_documents(Engine& engine, Course& course, const PlanOptions& options,
                                 const PlanModels& models, Deadline deadline) {
  const auto begin = Deadline::Clock::now();
  ConsultRules rules = engine.rules.consult;
  rules.order = order_for(engine, course);
  // Who names a share or a budget knows why; else passages get what holds the evidence, and not all there is.
  if (course.parts.wishes.budget || course.parts.context_ratio) rules.passages = budget::most_tokens;
  course.parts.passages.clear();
  course.parts.score.clear();
  TRY(Plan without, plan_parts(course.parts, course.model, options, models));
  course.plan = std::move(without);
  if (compression_is_due(engine, course)) return {};  // passages are chosen for what it leaves
  without = std::move(course.plan);
  if (without.policy == Policy::document_chat && !course.parts.context_ratio) {
    course.retrieval = choose_retrieval(
        without, options, course.ask.documents ? course.ask.documents->top_k : options.retrieval.max_top_k);
    rules.most_passages = static_cast<std::size_t>(course.retrieval->used());
    if (course.plans == 1) log_retrieval(*course.retrieval, rules.order == PassageOrder::best_last);
    if (course.plans == 1 && course.retrieval->used() == 0)
      course.trace.warnings.emplace_back(
          "there is no room for passages beside the question and the answer (B1)");
  }
  if (!course.findings) {
    TRY(course.findings, find_in_documents(*engine.shelf, course.ask.caller.indexes, course.parts,
                                           without.window.tokens - without.input, rules, deadline));
    for (const std::string& note : course.findings->notes) course.trace.warnings.push_back(note);
  }
  TRY(const PlanModel model, models.open(without.fallback.to.empty() ? course.model : without.fallback.to));
  constexpr int most_selections = 4;
  Tokens budget = first_budget(course, without);
  course.plan = std::move(without);
  for (int round = 0; round < most_selections && budget > 0; ++round) {
    TRY(Reading reading,
        read_documents(*course.findings, course.parts, model, course.plan.input, budget, rules));
    if (reading.passages.empty()) {
      course.plan.strategy = std::move(reading.strategy);
      break;
    }
    put_aboard(course, model, std::move(reading.passages));
    TRY(course.plan, plan_parts(course.parts, course.model, options, models));
    course.plan.strategy = std::move(reading.strategy);
    const Tokens dropped = dropped_passages(course.plan);
    if (dropped == 0) break;
    budget =
        std::min(budget - 1, context_grant(course.plan) - std::min(dropped, context_grant(course.plan) / 8));
  }
  course.trace.retrieve_us +=
      std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
  return {};
}

}  // namespace plimsoll::engine
