#include <algorithm>
#include <array>

#include "plimsoll/budget.hpp"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 6> names{"balanced", "history", "documents",
                                                "answer",   "strict",  "document-chat"};

}  // namespace

std::string_view name_of(Policy policy) {
  return names[static_cast<std::size_t>(policy)];
}

std::span<const std::string_view> policy_names() {
  return names;
}

std::optional<Policy> policy_named(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Policy>(found - names.begin());
}

namespace budget {
namespace {

// A ratio of a thousand to one works as "before the other", within whole tokens.
constexpr std::int64_t before = 1'000;
constexpr std::int64_t grow_first = before;

// How much each section is cut.
struct Weights {
  std::int64_t memory, history, context, answer;
};

Weights weights_of(Policy policy) {
  switch (policy) {
    case Policy::history: return {before, 1, before, heaviest};
    case Policy::documents: return {before, before, 1, heaviest};
    case Policy::answer: return {1, 1, 1, 0};
    case Policy::strict: return {0, 0, 0, heaviest};
    case Policy::balanced:
    case Policy::document_chat: break;
  }
  return {1, 1, 1, heaviest};
}

Section fixed(SectionKind kind, Tokens tokens) {
  return {.kind = kind, .basis = tokens, .min = tokens, .max = tokens};
}

Section of_pieces(SectionKind kind, Tokens tokens, std::int64_t shrink) {
  return {.kind = kind, .basis = tokens, .min = 0, .max = tokens, .grow = 0, .shrink = shrink};
}

Tokens wanted_answer(const Wants& wants) {
  const Tokens wanted = wants.answer.value_or(wants.answer_by_default);
  return std::max<Tokens>(0, wants.most_answer > 0 ? std::min(wanted, wants.most_answer) : wanted);
}

Tokens bounded_passages(const Wants& wants) {
  return std::min(wants.passages, wants.context_limit.value_or(wants.passages));
}

Section answer_section(const Wants& wants, Tokens window, std::int64_t shrink) {
  const Tokens wanted = wanted_answer(wants);
  Section answer{.kind = SectionKind::answer,
                 .basis = wanted,
                 .min = std::min(wanted, least_answer),
                 .max = wanted,
                 .shrink = shrink};
  if (!wants.answer) {
    answer.max = std::max(wanted, wants.most_answer > 0 ? std::min(wants.most_answer, window) : window);
    answer.grow = 1;
  }
  return answer;
}

}  // namespace

std::vector<Section> sections_for(const Wants& wants, Policy policy, Tokens window) {
  const Weights weights = weights_of(policy);
  const Tokens passages = bounded_passages(wants);
  Section context = of_pieces(SectionKind::context, passages, weights.context);
  if (policy != Policy::strict && !wants.context_limit) context.basis = std::min(passages, wants.context);
  context.grow = grow_first;  // the answer gets what passages leave
  Section history = of_pieces(SectionKind::history, wants.turns + wants.summary, weights.history);
  history.min = wants.summary;
  return {fixed(SectionKind::format, wants.format),
          fixed(SectionKind::system, wants.system),
          fixed(SectionKind::tools, wants.tools),
          of_pieces(SectionKind::memory, wants.facts, weights.memory),
          history,
          context,
          fixed(SectionKind::question, wants.question),
          of_pieces(SectionKind::thinking, wants.thinking, heaviest),
          answer_section(wants, window, weights.answer),
          fixed(SectionKind::margin, wants.margin)};
}

Tokens total_wanted(const Wants& wants, Policy policy) {
  const Tokens passages = policy == Policy::strict ? bounded_passages(wants) : 0;
  return passages + wants.format + wants.system + wants.tools + wants.facts + wants.turns + wants.summary +
         wants.question + wants.thinking + wanted_answer(wants);
}

}  // namespace budget
}  // namespace plimsoll
