#include <algorithm>
#include <array>
#include <utility>

#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "chat/write_chat.hpp"
#include "count/chat/chat_body.hpp"
#include "engine/plan/draft.hpp"
#include "engine/plan/explain.hpp"
#include "engine/plan/plan.hpp"

namespace plimsoll {
namespace engine {
namespace {

// Sections are in the order of their kinds.
constexpr std::size_t at(SectionKind kind) {
  return static_cast<std::size_t>(kind);
}

using Used = std::array<Tokens, section_kinds>;

// Returns what a placement sends.
render::Assembly assembly_of(const chat::ChatRequest& parts, const chat::Additions& with,
                             const budget::Placement& placement) {
  render::Assembly assembly;
  assembly.keep.assign(parts.messages().size(), true);
  assembly.question = parts.asked_at;
  for (std::size_t turn = 0; turn < parts.turns.size(); ++turn)
    for (const std::size_t i : parts.turns[turn]) assembly.keep[i] = placement.turns[turn] == Fate::kept;
  for (std::size_t i = 0; i < with.facts.size(); ++i)
    if (placement.facts[i] == Fate::kept) assembly.facts.push_back(with.facts[i]);
  for (std::size_t i = 0; i < with.passages.size(); ++i)
    if (placement.passages[i] == Fate::kept) assembly.passages.push_back(with.passages[i]);
  assembly.instruction = with.instruction;
  if (const render::Summary* summary = chat::summary_of(parts, with)) assembly.summary = *summary;
  assembly.earlier = with.earlier;
  return assembly;
}

// Returns the tokens of the final request by section. A sum of parts differs from the count of the whole, so
// facts, passages, earlier turns and a summary get the growth of their message, and all sections add up to
// the recount.
Used used_by(const chat::ChatRequest& parts, const Draft& draft, const ChatCount& now,
             const render::Assembly& assembly, Tokens facts_alone, Tokens& summary) {
  Used used{};
  const ChatCount& before = draft.counted;
  used[at(SectionKind::format)] = now.template_tokens;
  used[at(SectionKind::tools)] = now.tools;
  std::vector<SectionKind> kind_of(before.messages.size(), SectionKind::question);
  for (const std::size_t i : parts.system) kind_of[i] = SectionKind::system;
  for (const chat::Messages& turn : parts.turns)
    for (const std::size_t i : turn) kind_of[i] = SectionKind::history;

  const bool asked_alone =
      assembly.passages.empty() && assembly.earlier.empty();  // nothing before the question
  bool facts_wait = !assembly.facts.empty();
  const std::size_t summary_at =
      assembly.summary ? render::summary_place(parts.messages(), assembly) : kind_of.size();
  std::size_t sent = 0;  // in the final request
  for (std::size_t i = 0; i < kind_of.size(); ++i) {
    if (!assembly.keep[i]) continue;
    Tokens said = now.messages[sent] + now.message_images[sent];
    Tokens grown = now.messages[sent] - before.messages[i];
    const bool holds_facts = facts_wait && (kind_of[i] == SectionKind::system || i == assembly.question);
    if (i == summary_at) {
      const bool alone = !holds_facts && (i != assembly.question || asked_alone);
      summary = alone ? grown : std::min(grown, draft.load.summary - draft.all_earlier);
      used[at(SectionKind::history)] += summary;
      said -= summary;
      grown -= summary;
    }
    if (holds_facts) {
      const bool alone = i != assembly.question || asked_alone;
      const Tokens facts = alone ? grown : std::min(grown, facts_alone);
      used[at(SectionKind::memory)] += facts;
      said -= facts;
      grown -= facts;
      facts_wait = false;
    }
    if (i == assembly.question && !assembly.earlier.empty()) {
      const Tokens earlier = assembly.passages.empty() ? grown : std::min(grown, draft.all_earlier);
      used[at(SectionKind::history)] += earlier;
      said -= earlier;
      grown -= earlier;
    }
    if (i == assembly.question) {
      used[at(SectionKind::context)] += grown;
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

// Sets grants and uses after the recount, so that used <= grant and the grants together fit the window.
void fill_sections(Plan& plan, const Draft& draft, const budget::Placement& placement, const Used& used) {
  Tokens granted = 0;
  for (std::size_t i = 0; i < draft.load.sections.size(); ++i) {
    const Section& section = draft.load.sections[i];
    PlannedSection planned{section, placement.grants[i], used[at(section.kind)],
                           is_input(section.kind) ? plan.exactness : Exactness::exact};
    planned.grant = std::max(planned.grant, planned.used);
    planned.section.max = std::max(planned.section.max, planned.grant);  // the recount may be higher
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

// Distributes the rest after the recount: the answer gets the tokens that were saved. Nothing is left if the
// window is too small for the required parts.
void finish(Plan& plan, const chat::ChatRequest& parts, const Draft& draft,
            const budget::Placement& placement, const render::Assembly& assembly, const ChatCount& now,
            bool fits) {
  Tokens summary = 0;
  Used used = used_by(parts, draft, now, assembly, placement.used[at(SectionKind::memory)], summary);
  if (assembly.summary) {
    plan.summary = parts.compressed->told;
    plan.summary->after = summary;
  }
  plan.fits = fits;
  plan.input = now.total;
  plan.thinking = placement.used[at(SectionKind::thinking)];
  plan.margin = draft.wants.margin;
  const Section& answer = draft.load.sections[at(SectionKind::answer)];
  const Tokens room = plan.window.tokens - plan.input - plan.thinking - plan.margin;
  plan.answer = fits ? std::min(answer.grow > 0 ? answer.max : answer.basis, room)
                     : placement.used[at(SectionKind::answer)];
  plan.left = room - plan.answer;
  used[at(SectionKind::thinking)] = plan.thinking;
  used[at(SectionKind::answer)] = plan.answer;
  used[at(SectionKind::margin)] = plan.margin;
  fill_sections(plan, draft, placement, used);
  plan.message_count = std::ranges::count(assembly.keep, true);
  plan.memory_count = std::ssize(assembly.facts);
}

// Returns a placement of the required parts only.
budget::Placement least_placement(const Load& load) {
  budget::Placement placement;
  for (const Section& section : load.sections) placement.used.push_back(budget::least_of(section));
  placement.grants = placement.used;
  const auto fate = [&](SectionKind kind, Fate otherwise) {
    return load.sections[at(kind)].shrink == 0 ? Fate::kept : otherwise;
  };
  placement.facts.assign(load.facts.size(), fate(SectionKind::memory, Fate::no_room));
  placement.turns.assign(load.turns.size(), fate(SectionKind::history, Fate::too_old));
  placement.passages.assign(load.passages.size(), fate(SectionKind::context, Fate::no_room));
  return placement;
}

// A placement, the request it sends, and the exact count of that.
struct Packed {
  budget::Placement placement;
  render::Assembly assembly;
  nlohmann::ordered_json request;  // assembled, unless it is unchanged
  bool as_given = false;
  ChatCount counted;
  Tokens needs = 0;  // with placed thinking and the least answer
};

Result<Packed> pack(budget::Placement placement, const chat::ChatRequest& parts, const chat::Additions& with,
                    const PlanModel& model, const Draft& draft) {
  Packed packed{std::move(placement), {}, {}, false, {}, 0};
  packed.assembly = assembly_of(parts, with, packed.placement);
  packed.as_given = packed.assembly.facts.empty() && packed.assembly.passages.empty() &&
                    !packed.assembly.summary && packed.assembly.earlier.empty() &&
                    std::ranges::count(packed.assembly.keep, false) == 0;
  if (packed.as_given) {
    packed.counted = draft.counted;
  } else {
    packed.request = assemble(parts.body, packed.assembly);
    TRY(packed.counted, count::count_chat_body(model.tokenizer, packed.request, model.chat));
  }
  packed.needs = packed.counted.total + packed.placement.used[at(SectionKind::thinking)] +
                 budget::least_of(draft.load.sections[at(SectionKind::answer)]) + draft.wants.margin;
  return packed;
}

// Fills the window, counts the resulting request, and fills again with less if it is too long. Finally tries
// only the required parts; their count is the least window.
Result<void> settle(Plan& plan, const chat::ChatRequest& parts, const chat::Additions& with,
                    const PlanModel& model, const Draft& draft, const PlanOptions& options) {
  constexpr int most_attempts = 8;
  const Tokens window = plan.window.tokens;
  Tokens short_by = 0;
  std::optional<Packed> taken;
  for (int attempt = 0; attempt < most_attempts && !taken; ++attempt) {
    auto placement = budget::fill(std::max<Tokens>(0, window - short_by), draft.load);
    if (!placement && placement.error().code != Errc::over_budget) return tl::unexpected(placement.error());
    if (!placement) break;
    Tokens planned = 0;
    for (std::size_t i = 0; i < draft.load.sections.size(); ++i)
      planned += is_input(draft.load.sections[i].kind) ? placement->used[i] : 0;
    TRY(Packed packed, pack(*std::move(placement), parts, with, model, draft));
    if (packed.needs <= window)
      taken = std::move(packed);
    else
      short_by = std::max(short_by + 1, packed.counted.total - planned);
  }
  if (!taken || !options.brief) {
    TRY(Packed least, pack(least_placement(draft.load), parts, with, model, draft));
    plan.least = least.needs;
    if (!taken) taken = std::move(least);
  }
  const bool fits = taken->needs <= window;
  finish(plan, parts, draft, taken->placement, taken->assembly, taken->counted, fits);
  list_pieces(plan, parts, with, draft, taken->placement);
  if (!fits) return {};
  plan.untouched = taken->as_given && !parts.altered && chat::is_plain(parts, plan.model) &&
                   (!plan.requested_answer || plan.requested_answer == plan.answer) &&
                   plan.thinking == parts.thinking;
  if (!plan.untouched || !options.brief) {
    if (taken->as_given) taken->request = assemble(parts.body, taken->assembly);
    plan.request = chat::bound_body(std::move(taken->request), plan);
  }
  if (options.brief) return {};
  for (const Tokens change : {options.price_step, -options.price_step}) {
    if (change == 0) break;
    TRY(const Load then, load_for(draft, parts, window + change, options));
    plan.prices.push_back(
        price_of(parts, with, draft, taken->placement, window + change - short_by, then, change));
  }
  return {};
}

FallbackDecision fallback_for(const PlanModel& model, const Draft& draft, const PlanOptions& options,
                              const PlanModels& models) {
  return choose_fallback(
      {.current = model.name,
       .window = model.window.tokens,
       .total = budget::total_wanted(draft.wants, draft.policy),
       .enabled = options.fallback,
       .allowed = options.fallback_models,
       .compress_above_pct = options.compress_above_pct},
      [&](std::string_view name) { return models.window_of(name); },
      [&](std::string_view a, std::string_view b) { return models.same(a, b); },
      [&](std::string_view name) { return models.served_as(name); });
}

void advise(Plan& plan, const chat::ChatRequest& parts, const chat::Additions& with, const Draft& draft,
            const PlanOptions& options) {
  const Tokens threshold = plan.window.tokens * options.compress_above_pct / 100;
  plan.pressure = ContextBudget{plan.window.tokens, plan.input, threshold, true}.pressure();
  if (options.brief && with.passages.empty()) return;  // not used in this case
  StrategyAsk ask;
  ask.query = parts.query;
  ask.counted = draft.wants.passages;
  ask.counted_exactness = plan.exactness;
  ask.model_context_length = plan.window.tokens;
  ask.used_tokens = plan.input - plan.sections[at(SectionKind::context)].used;
  plan.strategy = context_strategy(ask);
}

// Hashes inputs and decisions. How and when a window was found is not an input, nor are the warnings about
// it, which are added later.
std::string hash_of(Plan& plan, std::string_view request) {
  std::vector<WindowAttempt> tried = std::exchange(plan.window.tried, {});
  std::string hash = base::sha256_hex(plan_json(plan) + std::string(request));
  plan.window.tried = std::move(tried);
  return hash;
}

}  // namespace

Result<Plan> plan_parts(const chat::ChatRequest& parts, const chat::Additions& with,
                        std::string_view model_name, const PlanOptions& options, const PlanModels& models) {
  TRY(PlanModel model, models.open(model_name));
  TRY(Draft draft, draft_plan(parts, with, model, options));
  Plan plan;
  plan.fallback = fallback_for(model, draft, options, models);
  if (!plan.fallback.to.empty()) {
    TRY(model, models.open_fallback(plan.fallback.to));  // its tokenizer, template and window
    TRY(draft, draft_plan(parts, with, model, options));
  }
  plan.model = model.name;
  plan.window = model.window;
  plan.policy = draft.policy;
  plan.exactness = worse(model.exactness, draft.counted.exactness);
  plan.why = model.exactness > draft.counted.exactness ? model.why : draft.counted.why;
  plan.format = draft.counted.template_used;
  plan.requested_answer = draft.wants.answer;
  TRY(const ContextBounds bounds, context_bounds(draft, parts, model.window.tokens, options));
  plan.context_limit = bounds.limit;
  TRY_VOID(settle(plan, parts, with, model, draft, options));
  advise(plan, parts, with, draft, options);
  if (!options.brief) plan.hash = hash_of(plan, parts.text);
  list_warnings(plan, model, draft);
  return plan;
}

}  // namespace engine

Result<Plan> plan_request(std::string_view request, std::string_view model_name, const PlanOptions& options,
                          const PlanModels& models) {
  TRY(const chat::ChatRequest parts, chat::read_chat(request));
  return engine::plan_parts(parts, parts.additions, model_name, options, models);
}

}  // namespace plimsoll
