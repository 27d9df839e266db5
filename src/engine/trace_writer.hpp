// Takes traces off the hands of those who answer and writes them down, with what was learned of drift and
// what was used, in batches on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ledger/drift.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct TraceWriterOptions {
  TraceLimits limits{};
  std::chrono::milliseconds patience{200};  // between two writes: what comes meanwhile goes together
  std::size_t batch = 256;                  // so many are not kept waiting
  std::size_t most_waiting = 8'192;         // beyond either, traces are dropped and counted
  std::size_t most_waiting_bytes = std::size_t{16} << 20;
  // Of requests that went through untouched and were answered, so many are written in each stretch of
  // `patience`: 500 a second. Under a load beyond that they would push all others out of the store at once.
  std::int64_t most_plain = 100;
};

// Any thread may call at any time. Store and book outlive it.
class TraceWriter {
 public:
  TraceWriter(TraceStore& store, ledger::DriftBook& book, TraceWriterOptions options = {});
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  // Writes what waits first.
  ~TraceWriter();

  // Whether there is room for one more trace in which nothing happened; asked once for each such, before any
  // work is done on it. False: it is passed over, and counted.
  bool takes_plain();
  bool keeps_traces() const { return options_.limits.most > 0; }
  // Never waits for the store.
  void add(Trace&& trace);
  // What the trace has used goes to its owner's account, whether the trace is kept or not. What could not be
  // written is tried again.
  void count(const Trace& trace);
  // Returns when all that was added before, and drift that was learned before, is written or was tried to be.
  void flush();

  // Traces that no room or no store was there for.
  std::uint64_t dropped() const;
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  void run();
  // Day, owner, model, section.
  using Account = std::tuple<std::int64_t, std::string, std::string, std::string>;
  struct Sums {
    Tokens tokens = 0;
    std::int64_t requests = 0;

    void add(const Sums& more) {
      tokens = add_used(tokens, more.tokens);
      requests = add_used(requests, more.requests);
    }
  };
  using Accounts = std::map<Account, Sums>;
  static std::vector<UsedTokens> listed(const Accounts& accounts);

  bool is_due() const { return stopping_ || flush_wanted_ > flushed_ || waiting_.size() >= options_.batch; }
  void write(const std::vector<Trace>& traces, const Accounts& used);
  void complain_of_losses();

  TraceStore& store_;
  ledger::DriftBook& book_;
  TraceWriterOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable due_;      // for the thread
  std::condition_variable written_;  // for those who flush
  std::vector<Trace> waiting_;
  std::size_t waiting_bytes_ = 0;
  Accounts used_;
  std::uint64_t flush_wanted_ = 0, flushed_ = 0;  // numbers of flushes
  std::uint64_t dropped_ = 0;
  bool stopping_ = false;

  std::atomic<std::int64_t> stretch_ = 0;  // of time, that plain_ counts in
  std::atomic<std::int64_t> plain_ = 0;
  std::atomic<std::uint64_t> passed_over_ = 0;

  // The thread's own.
  std::vector<DriftHistory> unwritten_drift_;
  std::string last_problem_;
  std::uint64_t dropped_told_ = 0;
  std::chrono::steady_clock::time_point may_complain_at_{};

  std::thread thread_;  // last: everything else is there when it starts
};

}  // namespace plimsoll::engine
