// Summaries that were made, by whom they belong to and by the hash of what they replace (F5).
//
// Those of a named session are kept in the store. What belongs to none stays in memory, bounded: nothing of a
// prompt reaches the disk that nobody wanted kept.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "plimsoll/sessions.hpp"

namespace plimsoll::conversation {

// The same turns in ever longer rows: what identifies each of them, the shortest first.
struct TurnRows {
  std::vector<std::string> hashes;     // of all of the row
  std::vector<std::string> ends_with;  // of its last turns; the same for a row that lost its beginning
};

// Any thread may call anything at any time. The store outlives it.
class Summaries {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Summaries(SessionStore& store, SummaryLimits limits = {}) : store_(store), limits_(limits) {}

  struct Found {
    std::size_t row = 0;  // of those that were asked for
    KeptSummary summary;
  };
  // Of the longest row that is known. Where none is, and there is a session: of the longest that ends as a
  // known one does. May block.
  std::optional<Found> find(const std::string& owner, const std::string& session, const TurnRows& rows);
  // May block.
  Result<void> keep(const std::string& owner, const std::string& session, const KeptSummary& summary);

  // A server that did not manage to write one is left in peace for a while.
  bool rests(std::size_t member, Clock::time_point now) const;
  void failed(std::size_t member, Clock::time_point now);
  void succeeded(std::size_t member);

 private:
  struct Entry {
    std::string key;
    KeptSummary summary;
  };
  std::optional<Found> find_in_memory(const std::string& owner, const TurnRows& rows);
  void keep_in_memory(const std::string& owner, const KeptSummary& summary);

  SessionStore& store_;
  SummaryLimits limits_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the one that was used last is the first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  std::size_t bytes_ = 0;
  std::map<std::size_t, Clock::time_point> resting_;  // until when, by member
};

}  // namespace plimsoll::conversation
