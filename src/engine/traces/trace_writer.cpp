#include "engine/traces/trace_writer.hpp"

#include <iterator>
#include <utility>

#include "base/log.hpp"
#include "base/try.hpp"

namespace plimsoll::engine {
namespace {

constexpr std::chrono::minutes between_complaints{1};

// Estimates the memory of a waiting trace: its long fields, and a constant for the rest.
std::size_t weight_of(const Trace& trace) {
  std::size_t bytes = 1'024 + trace.plan.size() + trace.prompt.size() + trace.error.size();
  for (const TracePassage& passage : trace.passages) bytes += sizeof(passage) + passage.text.size();
  for (const std::string& warning : trace.warnings) bytes += warning.size();
  return bytes;
}

}  // namespace

TraceWriter::TraceWriter(TraceStore& store, ledger::DriftBook& book, TraceWriterOptions options)
    : store_(store), book_(book), options_(options), thread_([this] { run(); }) {}

TraceWriter::~TraceWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  due_.notify_one();
  thread_.join();
}

// Two threads may count a few too many at the start of an interval, which is harmless.
bool TraceWriter::takes_plain() {
  const std::int64_t stretch = std::chrono::steady_clock::now().time_since_epoch() / options_.patience;
  if (stretch_.exchange(stretch, std::memory_order_relaxed) != stretch) plain_ = 0;
  if (plain_.fetch_add(1, std::memory_order_relaxed) < options_.most_plain) return true;
  passed_over_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void TraceWriter::add(Trace&& trace) {
  const std::size_t weight = weight_of(trace);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.most_waiting || waiting_bytes_ + weight > options_.most_waiting_bytes) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(trace));
    waiting_bytes_ += weight;
    wake = waiting_.size() == 1 || waiting_.size() == options_.batch;
  }
  if (wake) due_.notify_one();
}

void TraceWriter::count(const Trace& trace) {
  // An unknown model name comes from the client, and there may be any number of them.
  const std::string model = trace.used.empty() ? std::string() : trace.model;
  const std::int64_t day = day_of(trace.at_ms);
  std::vector<std::pair<Account, Sums>> counted;  // built before locking
  counted.reserve(trace.used.size() + 1);
  const std::int64_t priced = trace.cost.nano_usd ? 1 : 0;
  counted.push_back(
      {{day, trace.owner, model, std::string()}, {0, 1, trace.cost.nano_usd.value_or(0), priced}});
  for (const SectionTokens& one : trace.used)
    counted.push_back({{day, trace.owner, model, one.section}, {one.tokens, 1, 0, 0}});
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    wake = used_.empty();
    for (auto& [account, sums] : counted) used_[std::move(account)].add(sums);
  }
  if (wake) due_.notify_one();
}

std::vector<UsedTokens> TraceWriter::listed(const Accounts& accounts) {
  std::vector<UsedTokens> out;
  for (const auto& [account, sums] : accounts) {
    const auto& [day, owner, model, section] = account;
    out.push_back({day, owner, model, section, sums.tokens, sums.requests, sums.nano_usd, sums.priced});
  }
  return out;
}

void TraceWriter::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++flush_wanted_;
  due_.notify_one();
  written_.wait(lock, [&] { return flushed_ >= mine; });
}

Result<void> TraceWriter::forget_drift(std::string_view model) {
  book_.forget(model);
  flush();  // histories that were taken from the book already are in the store after this
  TRY_VOID(store_.delete_drift(model));
  return {};
}

std::uint64_t TraceWriter::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void TraceWriter::run() {
  auto written_at = std::chrono::steady_clock::now() - options_.patience;
  std::unique_lock lock(mutex_);
  while (true) {
    due_.wait(lock, [&] { return is_due() || !waiting_.empty() || !used_.empty(); });
    // After a pause the first trace is written at once, so that it can be inspected.
    due_.wait_until(lock, written_at + options_.patience, [&] { return is_due(); });
    const bool last = stopping_;
    const std::uint64_t flushing = flush_wanted_;
    const std::vector<Trace> traces = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    const Accounts used = std::exchange(used_, {});
    lock.unlock();
    write(traces, used);
    complain_of_losses();
    written_at = std::chrono::steady_clock::now();
    lock.lock();
    flushed_ = flushing;
    written_.notify_all();
    if (last) return;  // nothing is added during destruction
  }
}

void TraceWriter::write(const std::vector<Trace>& traces, const Accounts& used) {
  // Failed writes come first, so that newer data of the same key wins.
  std::vector<DriftHistory> drift = std::exchange(unwritten_drift_, {});
  std::vector<DriftHistory> news = book_.take_changed();
  drift.insert(drift.end(), std::make_move_iterator(news.begin()), std::make_move_iterator(news.end()));
  if (traces.empty() && drift.empty() && used.empty()) return;
  const auto kept = store_.keep(traces, drift, listed(used), options_.limits);
  if (kept) return;
  last_problem_ = kept.error().what;
  if (drift.size() <= ledger::DriftBook::most_keys) unwritten_drift_ = std::move(drift);
  const std::lock_guard lock(mutex_);
  dropped_ += traces.size();
  for (const auto& [account, sums] : used) used_[account].add(sums);
}

void TraceWriter::complain_of_losses() {
  const std::uint64_t now_dropped = dropped();
  const auto now = std::chrono::steady_clock::now();
  if (now_dropped == dropped_told_ || now < may_complain_at_) return;
  log::warning("traces were lost",
               {{"count", now_dropped - dropped_told_},
                {"why", last_problem_.empty() ? "the store was too slow" : std::string_view(last_problem_)}});
  dropped_told_ = now_dropped;
  last_problem_.clear();
  may_complain_at_ = now + between_complaints;
}

}  // namespace plimsoll::engine
