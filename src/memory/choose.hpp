// Which of the facts that were found come into a request, and why the others do not.
//
// Pure: the time is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plimsoll/memory.hpp"

namespace plimsoll::memory {

// Of persona memories: what is important enough, and not too long ago.
struct FactFilter {
  double above_importance = 0.6;
  std::int64_t oldest_ms = std::int64_t{7} * 24 * 3600 * 1000;  // 0: of any age
};

struct ChooseRules {
  FactFilter filter{};
  std::int64_t limit = 5;
  double min_trust = 0.3;
  bool only_related = true;
  std::int64_t now_ms = 0;  // UTC
};

enum class Left : std::uint8_t { low_trust, unimportant, old, unrelated, over_limit, repeated };

struct LeftFact {
  std::string id;
  std::string provider;
  Left why = Left::over_limit;
  std::string reason;  // with the numbers
};

struct Chosen {
  std::vector<RecalledFact> facts;
  std::vector<LeftFact> left;
};

// `found`: the best first, of one provider. `filtered`: whether the filter holds for it.
Chosen choose(std::vector<RecalledFact> found, const ChooseRules& rules, bool filtered);

}  // namespace plimsoll::memory
