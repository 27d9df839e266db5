// Known summaries, by owner and by the hash of the replaced turns (F5).
//
// Summaries of named sessions are in the store. The others stay in bounded memory: prompts are not written
// to disk unless the client wants it.
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

// Hashes of ever longer rows of the same turns, shortest first.
struct TurnRows {
  std::vector<std::string> hashes;     // of the whole row
  std::vector<std::string> ends_with;  // of its last turns; the same if a row lost its first turns
};

// Thread-safe. The store must outlive it.
class Summaries {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Summaries(SessionStore& store, SummaryLimits limits = {}) : store_(store), limits_(limits) {}

  struct Found {
    std::size_t row = 0;  // index into the given rows
    KeptSummary summary;
  };
  // Finds the summary of the longest known row. If there is none but a session: of the longest row that ends
  // like a known one. May block.
  std::optional<Found> find(const std::string& owner, const std::string& session, const TurnRows& rows);
  // May block.
  Result<void> keep(const std::string& owner, const std::string& session, const KeptSummary& summary);

  // A writer that failed is not asked for a while. `writer`: what failed, a server or a model of it for one
  // owner.
  bool rests(const std::string& writer, Clock::time_point now) const;
  void failed(const std::string& writer, Clock::time_point now);
  void succeeded(const std::string& writer);

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
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  std::size_t bytes_ = 0;
  std::map<std::string, Clock::time_point> resting_;  // until when, by writer
};

}  // namespace plimsoll::conversation
