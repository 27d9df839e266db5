#include "memory/choose.hpp"

#include <optional>
#include <set>

#include <fmt/format.h>

namespace plimsoll::memory {
namespace {

constexpr std::size_t most_told = 50;  // dropped facts in the report
constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;

struct Refused {
  Left why;
  std::string reason;
};

std::optional<Refused> refusal_of(const RecalledFact& one, const ChooseRules& rules, bool filtered) {
  const Fact& fact = one.fact;
  // Written so that NaN is refused.
  if (!(fact.trust >= rules.min_trust))
    return Refused{Left::low_trust, fmt::format("trust {:.2f} is below {:.2f}", fact.trust, rules.min_trust)};
  if (filtered && !(fact.importance > rules.filter.above_importance))
    return Refused{Left::unimportant, fmt::format("importance {:.2f} is not above {:.2f}", fact.importance,
                                                  rules.filter.above_importance)};
  if (filtered && rules.filter.oldest_ms > 0 && fact.updated_ms < rules.now_ms - rules.filter.oldest_ms)
    return Refused{Left::old,
                   fmt::format("{} days old; at most {} are allowed",
                               (rules.now_ms - fact.updated_ms) / day_ms, rules.filter.oldest_ms / day_ms)};
  if (rules.only_related && !one.related) return Refused{Left::unrelated, "not related to the question"};
  return std::nullopt;
}

}  // namespace

Chosen choose(std::vector<RecalledFact> found, const ChooseRules& rules, bool filtered) {
  Chosen chosen;
  std::set<std::string, std::less<>> texts;
  for (RecalledFact& one : found) {
    auto refused = refusal_of(one, rules, filtered);
    if (!refused && !texts.insert(one.fact.text).second)
      refused = Refused{Left::repeated, "repeats another fact"};
    if (!refused && std::ssize(chosen.facts) >= rules.limit)
      refused = Refused{Left::over_limit, fmt::format("only the best {} are considered", rules.limit)};
    if (refused && chosen.left.size() == most_told) continue;
    if (refused)
      chosen.left.push_back({std::move(one.fact.id), {}, refused->why, std::move(refused->reason)});
    else
      chosen.facts.push_back(std::move(one));
  }
  return chosen;
}

}  // namespace plimsoll::memory
