#include "engine/evidence/recall.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "base/text/text.hpp"
#include "count/chat/chat_body.hpp"
#include "engine/stages.hpp"

namespace plimsoll::engine {
namespace {

// Returns the id of a fact in plans and traces.
std::string piece_id(std::string_view provider, std::string_view id) {
  return provider.empty() ? std::string(id) : fmt::format("{}:{}", provider, id);
}

// Orders facts by time, not by relevance, so that a server's prefix cache stays valid while the facts are the
// same.
void put_in_order(std::vector<memory::GatheredFact>& facts) {
  const auto key = [](const memory::GatheredFact& one) {
    return std::tuple(one.recalled.fact.created_ms, std::string_view(one.recalled.fact.id));
  };
  for (auto begin = facts.begin(); begin != facts.end();) {
    const auto end = std::find_if(
        begin, facts.end(), [&](const memory::GatheredFact& one) { return one.provider != begin->provider; });
    std::ranges::stable_sort(begin, end, {}, key);
    begin = end;
  }
}

void add_recalled(const Recalled& recalled, chat::Additions& additions) {
  for (const memory::GatheredFact& one : recalled.facts) {
    const Fact& fact = one.recalled.fact;
    additions.facts.push_back({piece_id(one.provider, fact.id), fact.text, one.provider});
    additions.importance.push_back((fact.importance + one.recalled.score) / 2);
  }
}

std::string why_no_prefetch(const ContextBudget& budget) {
  return fmt::format("the window is {:.0f} % full, and the question does not ask for memories (S3)",
                     budget.pressure() * 100);
}

}  // namespace

bool wants_memories(const Engine& engine, const Received& received, const Request& request) {
  if (engine.recall == nullptr || engine.recall->providers.empty() || !received.is_chat() ||
      base::trim(request.chat.query).empty())
    return false;
  return request.chat.wishes.memory.value_or(received.ask.recall.value_or(engine.recall->always));
}

Request recall_memories(const Engine& engine, const Received& received, Request request,
                        const PlanModel& model, Deadline deadline) {
  Recalled& recalled = request.recalled.emplace();
  const auto counted = count::count_chat_body(model.tokenizer, request.chat.body, model.chat);
  if (!counted) return request;  // the plan says why
  const Tokens window = model.window.tokens;
  const Tokens threshold = window * engine.rules.plan.compress_above_pct / 100;
  const ContextBudget budget{window, counted->total, threshold, true};
  const Prefetch fetch = prefetch(budget, 5, engine.recall->base_min_trust);
  if (fetch.skip)
    recalled.why_none = fmt::format("the window is {:.0f} % full (S2)", budget.pressure() * 100);
  else if (!should_prefetch(budget, request.chat.query))
    recalled.why_none = why_no_prefetch(budget);
  if (!recalled.why_none.empty()) return request;

  RecallAsk ask;
  ask.query = request.chat.query;
  ask.owner = received.owner();
  ask.session = request.chat.wishes.session;
  ask.limit = fetch.limit;
  ask.min_trust = fetch.min_trust;
  ask.only_related =
      fetch.level != PressureLevel::stuff;  // with much room, important facts are always included
  memory::ChooseRules rules;
  rules.filter = engine.recall->filter;
  rules.limit = fetch.limit;
  rules.min_trust = fetch.min_trust;
  rules.only_related = ask.only_related;
  rules.now_ms = base::utc_ms();
  const auto begin = Deadline::Clock::now();
  memory::Gathered gathered = memory::gather(engine.recall->providers, ask, rules, deadline);
  request.notes.retrieve_us +=
      std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
  for (std::string& problem : gathered.problems) request.notes.warnings.push_back(std::move(problem));
  recalled.facts = std::move(gathered.facts);
  recalled.left = std::move(gathered.left);
  put_in_order(recalled.facts);
  add_recalled(recalled, request.chat.additions);
  return request;
}

void list_left_memories(Plan& plan, const std::optional<Recalled>& recalled) {
  if (!recalled) return;
  std::vector<PlannedPiece>& pieces = plan.pieces;
  if (!recalled->why_none.empty())
    pieces.push_back({SectionKind::memory, "memories", 0, Fate::over_limit, recalled->why_none});
  for (const memory::LeftFact& one : recalled->left)
    pieces.push_back({SectionKind::memory, piece_id(one.provider, one.id), 0,
                      one.why == memory::Left::old ? Fate::too_old : Fate::over_limit, one.reason});
}

std::vector<std::string> own_facts(const std::optional<Recalled>& recalled) {
  std::vector<std::string> ids;
  if (!recalled) return ids;
  for (const memory::GatheredFact& one : recalled->facts)
    if (one.provider.empty()) ids.push_back(one.recalled.fact.id);
  return ids;
}

}  // namespace plimsoll::engine
