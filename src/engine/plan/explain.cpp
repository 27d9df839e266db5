#include "engine/plan/explain.hpp"

#include <algorithm>

#include "base/text/text.hpp"

namespace plimsoll::engine {
namespace {

using base::with_thousands;

std::string turn_reason(const Plan& plan, const Draft& draft, Fate fate) {
  switch (fate) {
    case Fate::kept: return "fits";
    case Fate::over_limit:
      return fmt::format("only the last {} turns are considered (max_history_turns)", draft.load.most_turns);
    case Fate::too_old:
    case Fate::no_room: break;
  }
  const PlannedSection& history = plan.sections[static_cast<std::size_t>(SectionKind::history)];
  return fmt::format("history is cut from its oldest end, in steps: {} of {} tokens stay",
                     with_thousands(history.used), with_thousands(history.section.basis));
}

std::string piece_reason(const Plan& plan, const Draft& draft, SectionKind kind, Fate fate) {
  if (fate == Fate::kept) return "fits";
  if (fate == Fate::over_limit)
    return fmt::format("only the best {} are considered", draft.load.most_passages);
  const PlannedSection& section = plan.sections[static_cast<std::size_t>(kind)];
  return fmt::format("does not fit after better ones: {} had {} tokens", name_of(kind),
                     with_thousands(section.grant));
}

}  // namespace

void list_pieces(Plan& plan, const chat::ChatRequest& parts, const chat::Additions& with, const Draft& draft,
                 const budget::Placement& placement) {
  const auto add = [&](SectionKind kind, std::string id, Tokens tokens, Fate fate, std::string reason) {
    if (!plan.fits) reason = fate == Fate::kept ? "required" : "the required parts do not fit";
    plan.pieces.push_back({kind, std::move(id), tokens, fate, std::move(reason)});
  };
  const auto add_message = [&](SectionKind kind, std::size_t place, Tokens tokens, Fate fate,
                               std::string reason) {
    add(kind, fmt::format("messages[{}]", place), tokens, fate, std::move(reason));
    plan.pieces.back().message = place;
  };
  const auto said = [&](std::size_t i) {
    return draft.counted.messages[i] + draft.counted.message_images[i];
  };
  for (const std::size_t i : parts.system)
    add_message(SectionKind::system, chat::place_of(parts, i), said(i), Fate::kept, "never cut");
  for (std::size_t i = 0; i < with.facts.size(); ++i)
    add(SectionKind::memory, with.facts[i].id, draft.load.facts[i].tokens, placement.facts[i],
        piece_reason(plan, draft, SectionKind::memory, placement.facts[i]));
  if (plan.summary)
    add(SectionKind::history, "summary:" + plan.summary->id, plan.summary->after, Fate::kept,
        fmt::format("replaces {} turns: {}", plan.summary->turns, fmt::join(plan.summary->replaces, ", ")));
  else if (parts.compressed)
    for (const chat::Compressed::Message& gone : parts.compressed->replaced)
      add_message(SectionKind::history, gone.given_at, gone.tokens, Fate::too_old,
                  "neither the turn nor its summary fits");
  for (std::size_t turn = 0; turn < parts.turns.size(); ++turn)
    for (const std::size_t i : parts.turns[turn])
      add_message(SectionKind::history, chat::place_of(parts, i), whole_message(draft.counted, i),
                  placement.turns[turn], turn_reason(plan, draft, placement.turns[turn]));
  for (std::size_t i = 0; i < with.earlier.size(); ++i) {
    add(SectionKind::history, with.earlier[i].id(), draft.earlier[i], Fate::kept,
        with.earlier[i].cut_before || with.earlier[i].cut_after
            ? "a part of a turn that does not fit, found for the question"
            : "a turn that does not fit, found for the question");
    plan.pieces.back().is_recalled = true;
  }
  for (std::size_t i = 0; i < with.passages.size(); ++i)
    add(SectionKind::context, with.passages[i].id, draft.load.passages[i].tokens, placement.passages[i],
        piece_reason(plan, draft, SectionKind::context, placement.passages[i]));
  for (const std::size_t i : parts.question)
    add_message(SectionKind::question, chat::place_of(parts, i), said(i), Fate::kept, "never cut");
}

bool are_neighbours(const PlannedPiece& before, const PlannedPiece& piece) {
  return before.section == piece.section &&
         (!before.message || !piece.message || *piece.message == *before.message + 1);
}

void list_warnings(Plan& plan, const PlanModel& model, const Draft& draft) {
  const auto warn = [&](std::string text) { plan.warnings.push_back(std::move(text)); };
  if (!plan.fits)
    warn(fmt::format(
        "Prompt length exceeds context window. The least that this request needs is {} tokens (input {}, "
        "thinking {}, answer {}, margin {}); {} has {}.",
        with_thousands(plan.least), with_thousands(plan.input), with_thousands(plan.thinking),
        with_thousands(plan.answer), with_thousands(plan.margin), plan.model,
        with_thousands(plan.window.tokens)));
  const std::string tried = in_words(model.window.tried);
  if (model.window.source == WindowSource::catalogue && model.window.tried.size() > 1)
    warn(fmt::format("no server reported the window; it is from the catalogue ({})", tried));
  if (model.window.source == WindowSource::assumed) {
    warn(fmt::format("the window of {} is not known: {} tokens are assumed ({})", model.name,
                     with_thousands(model.window.tokens), tried));
  }
  if (plan.exactness != Exactness::exact)
    warn(fmt::format("counts are {}: {}", name_of(plan.exactness), plan.why));
  if (plan.fallback.compression_due && plan.fallback.to.empty() && draft.wants.turns > 0)
    warn(fmt::format("history is due for compression: {} tokens are wanted of a window of {}",
                     with_thousands(plan.fallback.total), with_thousands(plan.window.tokens)));
  if (plan.summary)
    warn(fmt::format("{} turns of history are sent as a summary ({}): {} tokens instead of {}",
                     plan.summary->turns,
                     plan.summary->how == "model" ? "written by " + plan.summary->model : plan.summary->how,
                     with_thousands(plan.summary->after), with_thousands(plan.summary->before)));
  if (!draft.earlier.empty())
    warn(fmt::format(
        "{} older turns that do not fit were found for the question and are sent with it: {} tokens",
        draft.earlier.size(), with_thousands(draft.all_earlier)));
  if (plan.fallback.needed) warn(plan.fallback.reason);
  if (plan.fits && plan.requested_answer && plan.answer < *plan.requested_answer)
    warn(fmt::format("max_tokens is REDUCED from {} to {}: {}", with_thousands(*plan.requested_answer),
                     with_thousands(plan.answer),
                     model.max_output > 0 && plan.answer == model.max_output
                         ? "the model's limit"
                         : "the window has no more room"));
  if (plan.fits && plan.thinking < draft.wants.thinking)
    warn(fmt::format("thinking is REDUCED from {} to {}: the window has no more room",
                     with_thousands(draft.wants.thinking), with_thousands(plan.thinking)));
  const auto cut = [&](SectionKind kind) {
    return std::ranges::count_if(plan.pieces, [&](const PlannedPiece& piece) {
      return piece.section == kind && piece.fate != Fate::kept;
    });
  };
  if (plan.fits && cut(SectionKind::history) > 0)
    warn(fmt::format("{} messages of history are left out", cut(SectionKind::history)));
  if (!draft.load.passages.empty() &&
      draft.load.sections[static_cast<std::size_t>(SectionKind::context)].max == 0)
    warn("the rule for passages leaves no room: no passage is sent");
}

PlannedPrice price_of(const chat::ChatRequest& parts, const chat::Additions& with, const Draft& draft,
                      const budget::Placement& now, Tokens then_window, const Load& then, Tokens change) {
  const budget::ShadowPrice price = budget::shadow_price(draft.load, now, then_window, then);
  const auto ids_of = [&](const budget::PieceList& list) {
    std::vector<std::string> ids;
    for (const std::size_t i : list.facts) ids.push_back(with.facts[i].id);
    for (const std::size_t turn : list.turns)
      for (const std::size_t i : parts.turns[turn]) ids.push_back(chat::message_id(parts, i));
    for (const std::size_t i : list.passages) ids.push_back(with.passages[i].id);
    return ids;
  };
  return {change, price.fits, ids_of(price.added), ids_of(price.gone), price.answer, price.thinking};
}

}  // namespace plimsoll::engine
