#include "models/window_cache.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace plimsoll::models {
namespace {

using namespace std::chrono_literals;

ModelReport report(Tokens tokens, bool failed = false) {
  ModelReport made;
  made.window.tokens = tokens;
  made.window.source = WindowSource::catalogue;
  made.failed = failed;
  return made;
}

const Deadline later = Deadline::after(1h);

// A cache with a simulated clock.
struct Timed {
  std::atomic<WindowCache::Clock::rep> moved = 0;
  WindowCache cache;

  explicit Timed(WindowCache::Times times = {})
      : cache(times, [this] { return WindowCache::Clock::time_point(WindowCache::Clock::duration(moved)); }) {
  }
  void pass(WindowCache::Clock::duration time) { moved += time.count(); }

  // The result of the cache, and whether it had to ask.
  std::pair<Tokens, bool> get(std::string_view model, const ModelReport& otherwise,
                              std::string_view upstream = "u") {
    bool asked = false;
    const auto found = cache.get(upstream, model, later, [&] {
      asked = true;
      return otherwise;
    });
    return {found->window.tokens, asked};
  }
};

using Got = std::pair<Tokens, bool>;

TEST(WindowCache, BelievesForItsTimeAndNotLonger) {
  Timed timed;
  EXPECT_EQ(timed.get("m", report(1)), Got(1, true));
  timed.pass(3599s);
  EXPECT_EQ(timed.get("m", report(2)), Got(1, false));
  timed.pass(1s);
  EXPECT_EQ(timed.cache.find("u", "m"), nullptr);
  EXPECT_EQ(timed.get("m", report(3)), Got(3, true));
}

TEST(WindowCache, BelievesAFailureForAShortTimeOnly) {
  Timed timed;
  EXPECT_EQ(timed.get("m", report(4096, true)), Got(4096, true));
  timed.pass(29s);
  EXPECT_EQ(timed.get("m", report(8192)), Got(4096, false));
  timed.pass(1s);
  EXPECT_EQ(timed.get("m", report(8192)), Got(8192, true));
  timed.pass(31s);
  EXPECT_EQ(timed.get("m", report(1)), Got(8192, false));
}

TEST(WindowCache, BelievesADefaultForSecondsOnly) {
  Timed timed;
  ModelReport assumed = report(4096, true);
  assumed.window.source = WindowSource::assumed;
  EXPECT_EQ(timed.get("m", assumed), Got(4096, true));
  timed.pass(9s);
  EXPECT_EQ(timed.get("m", report(8192)), Got(4096, false));
  timed.pass(1s);
  EXPECT_EQ(timed.get("m", report(8192)), Got(8192, true));
}

// A server that is starting answers within seconds.
TEST(WindowCache, BelievesASilentServerForSecondsOnly) {
  Timed timed;
  ModelReport silent = report(4096, true);
  silent.silent = true;
  EXPECT_EQ(timed.get("m", silent), Got(4096, true));
  timed.pass(1s);
  EXPECT_EQ(timed.get("m", report(8192)), Got(4096, false));
  timed.pass(1s);
  EXPECT_EQ(timed.get("m", report(8192)), Got(8192, true));
  timed.get("n", silent);
  timed.cache.forget_silence("u", "n");
  EXPECT_EQ(timed.get("n", report(2048)), Got(2048, true));
}

TEST(WindowCache, ForgetsFailuresAndNothingElse) {
  Timed timed;
  timed.get("told", report(1));
  timed.get("failed", report(2, true));
  timed.cache.forget_silence("u", "failed");
  EXPECT_EQ(timed.get("failed", report(3)), Got(2, false));
  for (const char* model : {"told", "failed", "never asked"}) timed.cache.forget_failure("u", model);
  EXPECT_EQ(timed.get("told", report(3)), Got(1, false));
  EXPECT_EQ(timed.get("failed", report(3)), Got(3, true));
}

// What an earlier run found is used only while the server is silent, and never instead of its answer.
TEST(WindowCache, AsksAgainForWhatAnEarlierRunFound) {
  Timed timed;
  ModelReport silent = report(4096, true);
  silent.silent = true;
  const auto kept = [] { return std::make_shared<ModelReport>(report(32768)); };
  timed.cache.put_unconfirmed("u", "answered", kept(), 60s);
  EXPECT_EQ(timed.cache.find("u", "answered"), nullptr);
  EXPECT_EQ(timed.get("answered", report(8192)), Got(8192, true));
  EXPECT_EQ(timed.get("answered", report(1)), Got(8192, false));

  timed.cache.put_unconfirmed("u", "silent", kept(), 60s);
  EXPECT_EQ(timed.get("silent", silent), Got(32768, true));
  EXPECT_EQ(timed.get("silent", report(8192)), Got(32768, false));  // asked a moment ago
  timed.pass(2s);
  EXPECT_EQ(timed.get("silent", report(8192)), Got(8192, true));

  timed.cache.put_unconfirmed("u", "old", kept(), 3599s);
  timed.pass(1s);
  EXPECT_EQ(timed.get("old", silent), Got(4096, true));
}

TEST(WindowCache, WithoutTimeItAsksEveryTime) {
  Timed timed({.believed = 0s});
  EXPECT_EQ(timed.get("m", report(1)), Got(1, true));
  EXPECT_EQ(timed.get("m", report(2, true)), Got(2, true));
  EXPECT_EQ(timed.get("m", report(3)), Got(3, true));
}

TEST(WindowCache, TellsUpstreamsAndModelsApart) {
  Timed timed;
  EXPECT_EQ(timed.get("m", report(1), "u"), Got(1, true));
  EXPECT_EQ(timed.get("m", report(2), "v"), Got(2, true));
  EXPECT_EQ(timed.get("n", report(3), "u"), Got(3, true));
  EXPECT_EQ(timed.get("", report(4), "um"), Got(4, true));
  EXPECT_EQ(timed.get("um", report(5), ""), Got(5, true));
  EXPECT_EQ(timed.get("m", report(6), "u"), Got(1, false));
}

TEST(WindowCache, ForgetsEverythingWhenTold) {
  Timed timed;
  timed.get("m", report(1));
  timed.get("n", report(1));
  timed.cache.clear();
  EXPECT_TRUE(timed.cache.entries().empty());
  EXPECT_EQ(timed.get("m", report(2)), Got(2, true));
}

TEST(WindowCache, TakesWhatWasFoundBefore) {
  Timed timed;
  timed.pass(10h);
  timed.cache.put("u", "old", std::make_shared<ModelReport>(report(1)), 3600s);
  timed.cache.put("u", "young", std::make_shared<ModelReport>(report(2)), 3000s);
  EXPECT_EQ(timed.cache.find("u", "old"), nullptr);
  ASSERT_EQ(timed.cache.entries().size(), 1U);
  EXPECT_EQ(timed.cache.entries()[0].model, "young");
  EXPECT_EQ(timed.cache.entries()[0].age, 3000s);
  timed.pass(600s);
  EXPECT_EQ(timed.cache.find("u", "young"), nullptr);
  EXPECT_TRUE(timed.cache.entries().empty());
}

TEST(WindowCache, HoldsOnlySoMany) {
  Timed timed;
  for (int i = 0; i < 10'100; ++i) {
    timed.pass(1ms);
    timed.get("m" + std::to_string(i), report(i + 1));
  }
  EXPECT_EQ(timed.cache.entries().size(), 10'000U);
  EXPECT_EQ(timed.cache.find("u", "m0"), nullptr);
  EXPECT_NE(timed.cache.find("u", "m10099"), nullptr);
}

// Threads that all want one model; the first asks until `release`, the others must wait for it.
TEST(WindowCache, OneAsksHoweverManyWant) {
  for (int round = 0; round < 20; ++round) {
    WindowCache cache({});
    std::atomic<int> asked = 0;
    std::atomic<int> right = 0;
    std::atomic<bool> release = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t)
      threads.emplace_back([&] {
        const auto found = cache.get("u", "m", later, [&] {
          ++asked;
          while (!release) std::this_thread::yield();
          return report(42);
        });
        right += found && found->window.tokens == 42 ? 1 : 0;
      });
    std::this_thread::sleep_for(2ms);
    release = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(right, 16);
  }
}

TEST(WindowCache, DifferentModelsDoNotWaitForEachOther) {
  WindowCache cache({});
  std::atomic<bool> release = false;
  std::thread slow([&] {
    cache.get("u", "slow", later, [&] {
      while (!release) std::this_thread::yield();
      return report(1);
    });
  });
  EXPECT_EQ(cache.get("u", "quick", later, [] { return report(2); })->window.tokens, 2);
  release = true;
  slow.join();
}

TEST(WindowCache, WaitsForAnotherOnlyUntilTheDeadline) {
  WindowCache cache({});
  std::atomic<bool> asking = false;
  std::atomic<bool> release = false;
  std::thread slow([&] {
    cache.get("u", "m", later, [&] {
      asking = true;
      while (!release) std::this_thread::yield();
      return report(1);
    });
  });
  while (!asking) std::this_thread::yield();
  const auto begin = Deadline::Clock::now();
  EXPECT_EQ(cache.get("u", "m", Deadline::after(50ms), [] { return report(2); }), nullptr);
  EXPECT_GE(Deadline::Clock::now() - begin, 50ms);
  release = true;
  slow.join();
  EXPECT_EQ(cache.find("u", "m")->window.tokens, 1);
}

TEST(WindowCache, AnAnswerFromBeforeARefreshIsNotKept) {
  WindowCache cache({});
  std::atomic<bool> asking = false;
  std::atomic<bool> release = false;
  Tokens got = 0;
  std::thread slow([&] {
    got = cache
              .get("u", "m", later,
                   [&] {
                     asking = true;
                     while (!release) std::this_thread::yield();
                     return report(1);
                   })
              ->window.tokens;
  });
  while (!asking) std::this_thread::yield();
  cache.clear();
  EXPECT_EQ(cache.get("u", "m", later, [] { return report(2); })->window.tokens, 2);
  release = true;
  slow.join();
  EXPECT_EQ(got, 1);
  EXPECT_EQ(cache.find("u", "m")->window.tokens, 2);
}

TEST(WindowCache, AQuestionThatEndsInAnExceptionFreesThoseWhoWait) {
  WindowCache cache({});
  std::atomic<bool> asking = false;
  std::atomic<bool> release = false;
  std::thread failing([&] {
    EXPECT_THROW(cache.get("u", "m", later,
                           [&]() -> ModelReport {
                             asking = true;
                             while (!release) std::this_thread::yield();
                             throw std::runtime_error("out of memory");
                           }),
                 std::runtime_error);
  });
  while (!asking) std::this_thread::yield();
  std::thread waiting([&] {
    const auto found = cache.get("u", "m", later, [] { return report(9); });
    EXPECT_TRUE(!found || found->window.tokens == 9);  // it asks itself if it came too late to wait
  });
  std::this_thread::sleep_for(20ms);
  release = true;
  failing.join();
  waiting.join();
  cache.clear();
  EXPECT_EQ(cache.get("u", "m", later, [] { return report(3); })->window.tokens, 3);
}

// Readers, askers, refreshes and listings at once: for ThreadSanitizer.
TEST(WindowCache, EverythingAtOnce) {
  WindowCache cache({});
  std::atomic<bool> stop = false;
  std::atomic<int> hits = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string model = "m" + std::to_string((i + t) % 7);
        const auto found = cache.get("u", model, later, [&] { return report(7, i % 3 == 0); });
        if (found && found->window.tokens == 7) ++hits;
      }
    });
  std::thread refreshing([&] {
    while (!stop) {
      cache.clear();
      for (const auto& entry : cache.entries()) EXPECT_EQ(entry.found->window.tokens, 7);
      std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  refreshing.join();
  EXPECT_EQ(hits, 6 * 2000);
}

}  // namespace
}  // namespace plimsoll::models
