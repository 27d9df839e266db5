#include <algorithm>
#include <array>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "count/chat_body.hpp"
#include "engine/draft.hpp"
#include "engine/explain.hpp"
#include "engine/parts.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll {
namespace engine {
namespace {

// Sections stand in the order of their kinds.
constexpr std::size_t at(SectionKind kind) {
  return static_cast<std::size_t>(kind);
}

using Used = std::array<Tokens, section_kinds>;

// What goes along by a stowage.
render::Assembly assembly_of(const RequestParts& parts, const budget::Stowage& stowage) {
  render::Assembly assembly;
  assembly.keep.assign(parts.body["messages"].size(), true);
  assembly.question = parts.asked_at;
  for (std::size_t turn = 0; turn < parts.turns.size(); ++turn)
    for (const std::size_t i : parts.turns[turn]) assembly.keep[i] = stowage.turns[turn] == Fate::kept;
  for (std::size_t i = 0; i < parts.facts.size(); ++i)
    if (stowage.facts[i] == Fate::kept) assembly.facts.push_back(parts.facts[i]);
  for (std::size_t i = 0; i < parts.passages.size(); ++i)
    if (stowage.passages[i] == Fate::kept) assembly.passages.push_back(parts.passages[i]);
  return assembly;
}

// The tokens of the final request by section. A sum of parts is not the count of the whole: facts and
// passages get what their message grew by, less what stands around them, and all adds up to the recount.
Used used_by(const RequestParts& parts, const Draft& draft, const ChatCount& now,
             const render::Assembly& assembly, Tokens facts_alone) {
  Used used{};
  const ChatCount& before = draft.counted;
  used[at(SectionKind::format)] = now.template_tokens;
  used[at(SectionKind::tools)] = now.tools;
  std::vector<SectionKind> kind_of(before.messages.size(), SectionKind::question);
  for (const std::size_t i : parts.system) kind_of[i] = SectionKind::system;
  for (const Messages& turn : parts.turns)
    for (const std::size_t i : turn) kind_of[i] = SectionKind::history;

  const auto add = [&](SectionKind kind, Tokens grown, Tokens frame) {
    const Tokens around = std::clamp<Tokens>(frame, 0, std::max<Tokens>(grown, 0));
    used[at(kind)] += grown - around;
    used[at(SectionKind::format)] += around;
  };
  bool facts_wait = !assembly.facts.empty();
  std::size_t sent = 0;  // in the final request
  for (std::size_t i = 0; i < kind_of.size(); ++i) {
    if (!assembly.keep[i]) continue;
    Tokens said = now.messages[sent] + now.message_images[sent];
    Tokens grown = now.messages[sent] - before.messages[i];
    if (facts_wait && (kind_of[i] == SectionKind::system || i == assembly.question)) {
      const bool alone = i != assembly.question || assembly.passages.empty();
      const Tokens facts = alone ? grown : std::min(grown, facts_alone + draft.facts_frame);
      add(SectionKind::memory, facts, draft.facts_frame);
      said -= facts;
      grown -= facts;
      facts_wait = false;
    }
    if (i == assembly.question) {
      add(SectionKind::context, grown, draft.passages_frame);
      said -= grown;
    }
    used[at(kind_of[i])] += said;
    if (kind_of[i] == SectionKind::history) {
      used[at(SectionKind::history)] += now.frames[sent];
      used[at(SectionKind::format)] -= now.frames[sent];
    }
    ++sent;
  }
  return used;
}

// Grants and uses after the recount, such that used <= grant and the grants fit the window together.
void fill_sections(Plan& plan, const Draft& draft, const budget::Stowage& stowage, const Used& used) {
  Tokens granted = 0;
  for (std::size_t i = 0; i < draft.load.sections.size(); ++i) {
    const Section& section = draft.load.sections[i];
    PlannedSection planned{section, stowage.grants[i], used[at(section.kind)],
                           is_input(section.kind) ? plan.exactness : Exactness::exact};
    planned.grant = std::max(planned.grant, planned.used);
    granted += planned.grant;
    plan.sections.push_back(planned);
  }
  for (auto planned = plan.sections.rbegin(); planned != plan.sections.rend() && granted > plan.window.tokens;
       ++planned) {
    const Tokens back = std::min(granted - plan.window.tokens, planned->grant - planned->used);
    planned->grant -= back;
    granted -= back;
  }
}

void finish(Plan& plan, const RequestParts& parts, const Draft& draft, const budget::Stowage& stowage,
            const render::Assembly& assembly, const ChatCount& now, Tokens facts_alone) {
  Used used = used_by(parts, draft, now, assembly, facts_alone);
  plan.fits = true;
  plan.input = now.total;
  plan.thinking = stowage.used[at(SectionKind::thinking)];
  plan.margin = draft.wants.margin;
  // The recount may have come out lower than planned: the answer gets that too.
  const Section& answer = draft.load.sections[at(SectionKind::answer)];
  plan.answer = std::min(answer.grow > 0 ? answer.max : answer.basis,
                         plan.window.tokens - plan.input - plan.thinking - plan.margin);
  plan.left = plan.window.tokens - plan.input - plan.thinking - plan.answer - plan.margin;
  used[at(SectionKind::thinking)] = plan.thinking;
  used[at(SectionKind::answer)] = plan.answer;
  used[at(SectionKind::margin)] = plan.margin;
  fill_sections(plan, draft, stowage, used);
  plan.message_count = std::ranges::count(assembly.keep, true);
  plan.memory_count = std::ssize(assembly.facts);
}

void finish_unfit(Plan& plan, const RequestParts& parts, const Draft& draft) {
  plan.fits = false;
  for (const Section& section : draft.load.sections) {
    const Tokens least = section.shrink > 0 ? section.min : section.basis;
    plan.sections.push_back(
        {section, least, least, is_input(section.kind) ? plan.exactness : Exactness::exact});
    if (is_input(section.kind)) plan.input += least;
    if (section.kind == SectionKind::answer) plan.answer = least;
    if (section.kind == SectionKind::thinking) plan.thinking = least;
  }
  plan.margin = draft.wants.margin;
  plan.left = plan.window.tokens - plan.least;
  plan.message_count = std::ssize(parts.system) + std::ssize(parts.question);
}

// Fills the window, counts what is really sent, and fills again with less where that came out longer.
Result<void> settle(Plan& plan, const RequestParts& parts, const PlanModel& model, const Draft& draft,
                    const PlanOptions& options) {
  constexpr int most_attempts = 8;
  const Tokens window = plan.window.tokens;
  Tokens short_by = 0;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto stowage = budget::stow(std::max<Tokens>(0, window - short_by), draft.load);
    if (!stowage && stowage.error().code != Errc::over_budget) return tl::unexpected(stowage.error());
    if (!stowage) break;
    const render::Assembly assembly = assembly_of(parts, *stowage);
    const bool as_given =
        assembly.facts.empty() && assembly.passages.empty() && std::ranges::count(assembly.keep, false) == 0;
    ChatCount now = draft.counted;
    const nlohmann::ordered_json request = assemble(parts.body, assembly);
    if (!as_given) {
      TRY(now, count::count_chat_body(model.tokenizer, request, model.chat));
    }
    const Section& answer = draft.load.sections[at(SectionKind::answer)];
    const Tokens over = now.total + stowage->used[at(SectionKind::thinking)] +
                        (answer.shrink > 0 ? answer.min : answer.basis) + draft.wants.margin - window;
    if (over > 0) {
      short_by += over;
      continue;
    }
    Tokens facts_alone = 0;
    for (std::size_t i = 0; i < parts.facts.size(); ++i)
      facts_alone += stowage->facts[i] == Fate::kept ? draft.load.facts[i].tokens : 0;
    plan.request = request.dump();
    finish(plan, parts, draft, *stowage, assembly, now, facts_alone);
    list_pieces(plan, parts, draft, &*stowage);
    if (options.price_step > 0)
      for (const Tokens change : {options.price_step, -options.price_step})
        plan.prices.push_back(price_of(parts, draft, *stowage, window - short_by, change));
    return {};
  }
  plan.least = std::max(plan.least, window + 1);
  finish_unfit(plan, parts, draft);
  list_pieces(plan, parts, draft, nullptr);
  return {};
}

FallbackDecision fallback_for(const PlanModel& model, const Draft& draft, const PlanOptions& options,
                              const PlanModels& models) {
  return choose_fallback(
      {.current = model.name,
       .window = model.window.tokens,
       .total = budget::total_wanted(draft.wants),
       .enabled = options.fallback,
       .allowed = options.fallback_models,
       .compress_above_pct = options.compress_above_pct},
      [&](std::string_view name) { return models.window_of(name); },
      [&](std::string_view a, std::string_view b) { return models.same(a, b); });
}

void advise(Plan& plan, const RequestParts& parts, const Draft& draft) {
  const Tokens threshold = plan.window.tokens * 85 / 100;
  plan.pressure = ContextBudget{plan.window.tokens, plan.input, threshold, true}.pressure();
  Tokens context = 0;
  for (const PlannedSection& planned : plan.sections)
    if (planned.section.kind == SectionKind::context) context = planned.used;
  StrategyAsk ask;
  ask.query = parts.query;
  ask.counted = draft.wants.passages;
  ask.counted_exactness = plan.exactness;
  ask.model_context_length = plan.window.tokens;
  ask.used_tokens = plan.input - context;
  plan.strategy = context_strategy(ask);
}

}  // namespace
}  // namespace engine

Result<Plan> plan_request(std::string_view request, std::string_view model_name, const PlanOptions& options,
                          const PlanModels& models) {
  using namespace engine;
  TRY(const RequestParts parts, read_parts(request));
  TRY(PlanModel model, models.open(model_name));
  TRY(Draft draft, draft_plan(parts, model, options));
  Plan plan;
  plan.fallback = fallback_for(model, draft, options, models);
  if (!plan.fallback.to.empty()) {
    TRY(model, models.open(plan.fallback.to));  // another tokenizer, template and window: all is counted anew
    TRY(draft, draft_plan(parts, model, options));
  }
  plan.model = model.name;
  plan.window = model.window;
  plan.policy = draft.policy;
  plan.exactness = worse(model.exactness, draft.counted.exactness);
  plan.why = model.exactness > draft.counted.exactness ? model.why : draft.counted.why;
  plan.requested_answer = draft.wants.answer;
  plan.least = budget::least_window(draft.load.sections);
  TRY_VOID(settle(plan, parts, model, draft, options));
  advise(plan, parts, draft);
  list_warnings(plan, model, draft);
  plan.hash = base::sha256_hex(plan_json(plan) + std::string(request));
  return plan;
}

}  // namespace plimsoll
