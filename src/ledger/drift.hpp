// What was learned of the difference between plan and usage.
#pragma once

#include <map>
#include <shared_mutex>
#include <vector>

#include "plimsoll/budget.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// Any thread may call at any time. A look-up costs well under a microsecond and waits only for `learn`.
class DriftBook {
 public:
  static constexpr std::size_t recent_kept = 32;   // how many differences the worst is looked for in
  static constexpr std::size_t most_keys = 4'096;  // beyond, the one that was learned of longest ago goes

  // For the margin (B8). A plan that counted too many is safe, but it has not agreed: it is a drift of one.
  budget::Drift of(const DriftKey& key) const;

  // Usage less plan, of an answer whose prompt was not cut.
  void learn(const DriftKey& key, Tokens difference);

  // What was kept. It stands for what the book has of the same keys.
  void load(std::vector<DriftHistory> histories);
  // What was learned since this was last asked.
  std::vector<DriftHistory> take_changed();

 private:
  struct Page {
    std::vector<Tokens> recent;  // oldest first
    std::int64_t seen = 0;
    Tokens worst = 0;
    std::uint64_t learned_at = 0;  // by the count of learnings
    bool changed = false;
  };
  Page& page_for(const DriftKey& key);

  mutable std::shared_mutex mutex_;
  std::map<DriftKey, Page> pages_;
  std::uint64_t learnings_ = 0;
};

}  // namespace plimsoll::ledger
