// What was learned of the difference between plan and usage.
#pragma once

#include <map>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "plimsoll/budget.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// A server may say anything, and one owner's requests may be unlike all others. So a difference counts for
// the owner whose request it was seen in, for everybody only as far as a second owner has seen as much, and
// for an hour.
//
// Times are UTC milliseconds. Any thread may call at any time. A look-up costs well under a microsecond and
// waits only for `learn`.
class DriftBook {
 public:
  static constexpr std::size_t recent_kept = 32;  // how many differences the worst is looked for in
  static constexpr std::size_t most_keys = most_drift_kept;  // beyond, the one learned of longest ago goes
  static constexpr std::int64_t believed_ms = std::int64_t{3600} * 1000;

  // For the margin (B8). A plan that counted too many is safe, but it has not agreed: it is a drift of one.
  budget::Drift of(const DriftKey& key, std::int64_t now_ms) const;

  // Usage less plan, of an answer whose prompt was not cut.
  void learn(const DriftKey& key, Tokens difference, std::int64_t now_ms);

  // Forgets what this owner has seen: a request would have been refused because of it.
  void relax(const DriftKey& key, std::int64_t now_ms);
  // Forgets all that is known of a model; of all models where it is empty.
  void forget(std::string_view model);

  // What was kept. It stands for what the book has of the same keys.
  void load(std::vector<DriftHistory> histories, std::int64_t now_ms);
  // What was learned since this was last asked.
  std::vector<DriftHistory> take_changed();

 private:
  struct Page {
    std::vector<SeenDrift> recent;  // oldest first
    std::int64_t seen = 0;
    std::uint64_t learned_at = 0;  // by the count of learnings
    bool changed = false;
  };
  // What at least two owners have seen, when somebody last learned.
  struct Agreed {
    budget::Drift drift;
    std::int64_t at_ms = 0;
  };
  using Pages = std::map<DriftKey, Page>;
  static DriftKey of_everybody(DriftKey key);
  static budget::Drift drift_of(const Page& page, std::int64_t now_ms);
  Page& page_for(const DriftKey& key);
  void agree(const DriftKey& key, std::int64_t now_ms);

  mutable std::shared_mutex mutex_;
  Pages pages_;
  std::map<DriftKey, Agreed> agreed_;  // by keys without an owner
  std::uint64_t learnings_ = 0;
};

}  // namespace plimsoll::ledger
