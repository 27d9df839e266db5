#include "engine/traces/trace_writer.hpp"

#include <atomic>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/log.hpp"

namespace plimsoll::engine {
namespace {

using namespace std::chrono_literals;

// Records what it gets. While it is closed, keep() blocks.
class FakeStore : public TraceStore {
 public:
  Result<void> keep(std::span<const Trace> traces, std::span<const DriftHistory> drift,
                    std::span<const UsedTokens> counted, const TraceLimits& limits) override {
    std::unique_lock lock(mutex_);
    ++asked;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !shut_; });
    most = limits.most;
    if (broken) return fail(Errc::io_failed, "the disk is full");
    for (const UsedTokens& one : counted) {
      Tokens& sum = used[fmt::format("{} {} {} {}", one.day, one.owner, one.model, one.section)];
      sum = add_used(sum, one.section.empty() ? one.requests : one.tokens);  // as a store does
    }
    batches.push_back(traces.size());
    for (const Trace& trace : traces) kept.insert(trace.id);
    for (const DriftHistory& history : drift) learned[history.key] = history;
    return {};
  }
  Result<Trace> trace(std::string_view, std::string_view) override { return fail(Errc::not_found, "none"); }
  Result<std::vector<Trace>> traces(std::string_view, const Wanted&) override { return std::vector<Trace>{}; }
  Result<std::vector<DriftHistory>> drift() override { return std::vector<DriftHistory>{}; }
  Result<std::int64_t> forget_drift(std::string_view) override { return 0; }
  Result<std::int64_t> delete_drift(std::string_view model) override {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(
        std::erase_if(learned, [&](const auto& one) { return model.empty() || one.first.model == model; }));
  }
  Result<std::vector<ForgetOrder>> forget_orders(std::int64_t) override { return std::vector<ForgetOrder>{}; }

  void shut(bool is_shut) {
    const std::lock_guard lock(mutex_);
    shut_ = is_shut;
    changed_.notify_all();
  }
  void wait_until_asked(int times) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 30s, [&] { return asked >= times; }));
  }

  std::atomic<bool> broken = false;
  int asked = 0;
  std::int64_t most = 0;
  std::vector<std::size_t> batches;
  std::set<std::string> kept;
  std::map<DriftKey, DriftHistory> learned;
  std::map<std::string, Tokens> used;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
};

Trace bare_trace(const std::string& id) {
  Trace trace;
  trace.id = id;
  return trace;
}

const DriftKey llama{"ollama", "llama3.2:3b", "llama3", "ann"};

TEST(TraceWriter, WritesInBatchesWithoutBeingAsked) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book, {.limits = {.most = 77}, .patience = 1h, .batch = 10});
  writer.add(bare_trace("first"));
  store.wait_until_asked(1);  // after a rest the first is written at once
  for (int i = 0; i < 10; ++i) writer.add(bare_trace(std::to_string(i)));
  store.wait_until_asked(2);  // an hour before its time: the batch is full
  writer.flush();
  EXPECT_EQ(store.batches.at(1), 10U);
  EXPECT_EQ(store.kept.size(), 11U);
  EXPECT_EQ(store.most, 77);
}

Trace used_trace(const std::string& owner, std::vector<SectionTokens> used) {
  Trace trace = bare_trace("x");
  trace.owner = owner;
  trace.model = "m";
  trace.at_ms = std::int64_t{3} * 24 * 3600 * 1000 + 5;
  trace.used = std::move(used);
  return trace;
}

TEST(TraceWriter, CountsWhatWasUsedAlsoWhereNoTracesAreKept) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book, {.limits = {.most = 0}});
  EXPECT_FALSE(writer.keeps_traces());
  writer.count(used_trace("ann", {{"system", 10}, {"answer", 5}}));
  writer.count(used_trace("ann", {{"system", 7}}));
  writer.count(used_trace("bob", {}));  // nothing answered
  writer.flush();
  const std::map<std::string, Tokens> expected{
      {"3 ann m ", 2}, {"3 ann m system", 17}, {"3 ann m answer", 5}, {"3 bob  ", 1}};
  EXPECT_EQ(store.used, expected);
}

TEST(TraceWriter, ForgetsNoUsageThatCouldNotBeWritten) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book);
  store.broken = true;
  writer.count(used_trace("ann", {{"answer", 5}}));
  writer.flush();
  EXPECT_TRUE(store.used.empty());
  writer.count(used_trace("ann", {{"answer", 6}}));
  store.broken = false;
  writer.flush();
  EXPECT_EQ(store.used["3 ann m answer"], 11);
  EXPECT_EQ(store.used["3 ann m "], 2);
}

TEST(TraceWriter, ForgottenDriftDoesNotReturnWithAWriteUnderWay) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book);
  DriftKey other = llama;
  other.model = "gpt-4o";
  store.shut(true);
  book.learn(llama, 5, 1);
  book.learn(other, 6, 1);
  writer.add(bare_trace("a"));
  store.wait_until_asked(1);  // with the drift
  std::thread opener([&] {
    std::this_thread::sleep_for(20ms);
    store.shut(false);
  });
  EXPECT_TRUE(writer.forget_drift(llama.model));
  opener.join();
  writer.flush();
  EXPECT_FALSE(store.learned.contains(llama));
  EXPECT_TRUE(store.learned.contains(other));
  EXPECT_FALSE(book.of(llama, 1).seen);
}

TEST(TraceWriter, WritesASingleTraceAfterAWhile) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book, {.patience = 5ms});
  writer.add(bare_trace("a"));
  store.wait_until_asked(1);
  writer.flush();
  EXPECT_EQ(store.kept, std::set<std::string>{"a"});
}

TEST(TraceWriter, SumsOfUsageDoNotOverflow) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book, {.patience = 1h});
  for (int i = 0; i < 3; ++i) writer.count(used_trace("ann", {{"answer", INT64_MAX}}));
  writer.flush();
  EXPECT_EQ(store.used.at("3 ann m answer"), most_used);
}

TEST(TraceWriter, FlushWritesAllThatWasAddedAndLearned) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book, {.patience = 1h});
  writer.add(bare_trace("a"));
  book.learn(llama, 7, 5);
  writer.flush();
  EXPECT_TRUE(store.kept.contains("a"));
  EXPECT_EQ(store.learned.at(llama).recent, (std::vector<SeenDrift>{{7, 5}}));
  const std::size_t batches = store.batches.size();  // the first trace may have gone at once
  writer.flush();                                    // with nothing to do
  EXPECT_EQ(store.batches.size(), batches);
}

TEST(TraceWriter, WritesWhatWaitsBeforeItEnds) {
  FakeStore store;
  ledger::DriftBook book;
  {
    TraceWriter writer(store, book, {.patience = 1h});
    for (int i = 0; i < 100; ++i) writer.add(bare_trace(std::to_string(i)));
  }
  EXPECT_EQ(store.kept.size(), 100U);
}

TEST(TraceWriter, DropsWhatThereIsNoRoomForAndSaysSoOnce) {
  std::ostringstream said;
  log::start_on(said, log::Level::warning, log::Format::text);
  FakeStore store;
  ledger::DriftBook book;
  {
    TraceWriter writer(store, book,
                       {.patience = 1ms, .batch = 1, .most_waiting = 5, .most_waiting_bytes = 20'000});
    store.shut(true);
    writer.add(bare_trace("first"));
    store.wait_until_asked(1);  // taken out of the queue, and stuck
    for (int i = 0; i < 8; ++i) writer.add(bare_trace(std::to_string(i)));
    EXPECT_EQ(writer.dropped(), 3U);
    store.shut(false);
    writer.flush();
    EXPECT_EQ(store.kept.size(), 6U);
    Trace long_one = bare_trace("long");
    long_one.prompt.assign(30'000, 'x');
    writer.add(std::move(long_one));
    writer.flush();
    EXPECT_EQ(writer.dropped(), 4U);
  }
  log::start(log::Level::info, log::Format::text);
  EXPECT_NE(said.str().find("count=3"), std::string::npos) << said.str();
  EXPECT_EQ(said.str().find("traces were lost"), said.str().rfind("traces were lost"));
}

TEST(TraceWriter, LosesTracesButNoDriftToABrokenStore) {
  std::ostringstream said;
  log::start_on(said, log::Level::warning, log::Format::text);
  FakeStore store;
  ledger::DriftBook book;
  store.broken = true;
  {
    TraceWriter writer(store, book);
    writer.add(bare_trace("a"));
    book.learn(llama, 7, 5);
    writer.flush();
    EXPECT_EQ(writer.dropped(), 1U);
    EXPECT_NE(said.str().find("the disk is full"), std::string::npos);
    store.broken = false;
    writer.flush();
    EXPECT_EQ(store.learned.at(llama).seen, 1);
  }
  log::start(log::Level::info, log::Format::text);
}

TEST(TraceWriter, TakesFromManyThreads) {
  FakeStore store;
  ledger::DriftBook book;
  {
    TraceWriter writer(store, book, {.patience = 1ms, .batch = 16});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          writer.add(bare_trace(std::to_string(t * 1'000 + i)));
          if (i % 100 == 0) writer.flush();
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(store.kept.size(), 2'000U);
}

TEST(TraceWriter, PassesOverWhatIsPlainBeyondSoManyInAStretchOfTime) {
  FakeStore store;
  ledger::DriftBook book;
  TraceWriter writer(store, book, {.patience = std::chrono::milliseconds(50), .most_plain = 10});
  int taken = 0;
  for (int i = 0; i < 1'000; ++i) taken += writer.takes_plain() ? 1 : 0;
  EXPECT_GE(taken, 10);
  EXPECT_LE(taken, 200);  // the loop may see several stretches
  EXPECT_EQ(writer.passed_over(), 1'000U - static_cast<unsigned>(taken));
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  EXPECT_TRUE(writer.takes_plain());
}

}  // namespace
}  // namespace plimsoll::engine
