// Writes traces, drift and usage to the store in batches, on its own thread, so that requests do not
// wait.
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
  std::chrono::milliseconds patience{200};  // between two writes; traces in between form a batch
  std::size_t batch = 256;                  // written at once when this many wait
  std::size_t most_waiting = 8'192;         // above either limit, traces are dropped and counted
  std::size_t most_waiting_bytes = std::size_t{16} << 20;
  // Most traces of untouched, answered requests that are written per `patience`: 500 per second. Under a
  // higher load they would push all other traces out of the store.
  std::int64_t most_plain = 100;
};

// Thread-safe. Store and book must outlive it.
class TraceWriter {
 public:
  TraceWriter(TraceStore& store, ledger::DriftBook& book, TraceWriterOptions options = {});
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  // Writes the waiting traces first.
  ~TraceWriter();

  // Returns whether one more untouched trace should be written; called once for each, before any work on
  // it. False: it is skipped and counted.
  bool takes_plain();
  bool keeps_traces() const { return options_.limits.most > 0; }
  // Does not wait for the store.
  void add(Trace&& trace);
  // Adds the trace's usage to its owner's account, whether the trace is stored or not. Failed writes
  // are retried.
  void count(const Trace& trace);
  // Returns when all earlier traces and drift are written, or the attempt has failed.
  void flush();

  // Forgets the drift of a model, or of all (empty), in the book and in the store, and in no write that is
  // under way.
  Result<void> forget_drift(std::string_view model);

  // Traces that were dropped.
  std::uint64_t dropped() const;
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  void run();
  // Day, owner, model, section.
  using Account = std::tuple<std::int64_t, std::string, std::string, std::string>;
  struct Sums {
    Tokens tokens = 0;
    std::int64_t requests = 0;
    std::int64_t nano_usd = 0, priced = 0;

    void add(const Sums& more) {
      tokens = add_used(tokens, more.tokens);
      requests = add_used(requests, more.requests);
      nano_usd = add_cost(nano_usd, more.nano_usd);
      priced = add_used(priced, more.priced);
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
  std::condition_variable due_;      // wakes the thread
  std::condition_variable written_;  // wakes flush()
  std::vector<Trace> waiting_;
  std::size_t waiting_bytes_ = 0;
  Accounts used_;
  std::uint64_t flush_wanted_ = 0, flushed_ = 0;  // numbers of flushes
  std::uint64_t dropped_ = 0;
  bool stopping_ = false;

  std::atomic<std::int64_t> stretch_ = 0;  // interval that plain_ counts in
  std::atomic<std::int64_t> plain_ = 0;
  std::atomic<std::uint64_t> passed_over_ = 0;

  // Used only by the thread.
  std::vector<DriftHistory> unwritten_drift_;
  std::string last_problem_;
  std::uint64_t dropped_told_ = 0;
  std::chrono::steady_clock::time_point may_complain_at_{};

  std::thread thread_;  // last: starts after all other members exist
};

}  // namespace plimsoll::engine
