// Chooses facts for a request, with reasons for the others.
//
// Pure: the time is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plimsoll/memory.hpp"

namespace plimsoll::memory {

// Selects our own facts by importance and age.
struct FactFilter {
  double above_importance = 0.6;
  std::int64_t oldest_ms = std::int64_t{7} * 24 * 3600 * 1000;  // 0: any age
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

// `found`: facts of one provider, best first. `filtered`: whether the filter applies.
Chosen choose(std::vector<RecalledFact> found, const ChooseRules& rules, bool filtered);

}  // namespace plimsoll::memory
