// Learned differences between plan and usage.
#pragma once

#include <map>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "plimsoll/budget.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::ledger {

// A server may report anything, and one owner's requests may differ from all others. So a difference counts
// for the owner of the request, for all owners only up to what a second owner has seen, and for an hour.
//
// Times are UTC milliseconds. Thread-safe. A lookup takes well under a microsecond and
// waits only for `learn`.
class DriftBook {
 public:
  static constexpr std::size_t recent_kept = 32;  // differences considered for the worst one
  static constexpr std::size_t most_keys =
      most_drift_kept;  // above it, the least recently updated is dropped
  static constexpr std::int64_t believed_ms = std::int64_t{3600} * 1000;

  // For the margin (B8). A plan that counted too many tokens is safe, but counts as a drift of one.
  budget::Drift of(const DriftKey& key, std::int64_t now_ms) const;

  // `difference`: usage minus plan, for a prompt that was not truncated.
  void learn(const DriftKey& key, Tokens difference, std::int64_t now_ms);

  // Forgets this owner's observations, because a request would be refused due to them.
  void relax(const DriftKey& key, std::int64_t now_ms);
  // Forgets a model; all models if empty.
  void forget(std::string_view model);

  // Loads stored histories; replaces the same keys.
  void load(std::vector<DriftHistory> histories, std::int64_t now_ms);
  // Returns the histories that changed since the last call.
  std::vector<DriftHistory> take_changed();

 private:
  struct Page {
    std::vector<SeenDrift> recent;  // oldest first
    std::int64_t seen = 0;
    std::uint64_t learned_at = 0;  // sequence number
    bool changed = false;
  };
  // What at least two owners have seen, as of the last observation.
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
