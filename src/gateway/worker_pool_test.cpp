#include "gateway/worker_pool.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <set>

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

constexpr std::chrono::seconds patience{60};

std::chrono::steady_clock::time_point soon() {
  return std::chrono::steady_clock::now() + patience;
}

TEST(WorkerPool, ServesOwnersInTurn) {
  WorkerPool pool({.threads = 1, .per_owner = 1});
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::string order;
  pool.post("first", [open] { open.wait(); });
  for (int i = 0; i < 3; ++i) pool.post("noisy", [&] { order += 'n'; });
  pool.post("quiet", [&] { order += 'q'; });
  gate.set_value();
  ASSERT_TRUE(pool.wait_until_idle(soon()));
  EXPECT_EQ(order, "nqnn");
}

TEST(WorkerPool, NoOwnerHasAllThreads) {
  WorkerPool pool({.threads = 2, .per_owner = 1});
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  for (int i = 0; i < 4; ++i) pool.post("noisy", [open] { open.wait(); });
  std::promise<void> served;
  pool.post("quiet", [&] { served.set_value(); });
  EXPECT_EQ(served.get_future().wait_for(patience), std::future_status::ready);
  gate.set_value();
  EXPECT_TRUE(pool.wait_until_idle(soon()));
}

// The priority of the thread that asks.
int niceness() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
}

TEST(WorkerPool, WhatAnOwnerAsksForBesideItsFirstRequestGivesWay) {
  WorkerPool pool({.threads = 3, .background_threads = 2, .per_owner = 3});
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::mutex mutex;
  std::multiset<int> noisy, quiet, nobody;
  const auto work = [&](std::multiset<int>& into) {
    return [&, open] {
      {
        const std::lock_guard lock(mutex);
        into.insert(niceness() - getpriority(PRIO_PROCESS, static_cast<id_t>(getpid())));
      }
      open.wait();
    };
  };
  for (int i = 0; i < 3; ++i) pool.post("noisy", work(noisy));
  pool.post("quiet", work(quiet));
  const auto until = soon();
  const auto are_running = [&](std::size_t count) {
    const std::lock_guard lock(mutex);
    return noisy.size() + quiet.size() == count;
  };
  while (!are_running(4) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  gate.set_value();
  ASSERT_TRUE(pool.wait_until_idle(soon()));
  for (int i = 0; i < 3; ++i) pool.post("", work(nobody));
  ASSERT_TRUE(pool.wait_until_idle(soon()));
  EXPECT_EQ(noisy.size(), 3U);
  EXPECT_EQ(noisy.count(0), 1U);
  EXPECT_EQ(quiet, (std::multiset<int>{0}));
  EXPECT_EQ(nobody, (std::multiset<int>{0, 0, 0})) << "where no keys are asked for";
}

TEST(WorkerPool, DropsWhatWaitsWhenItStops) {
  WorkerPool pool({.threads = 1, .per_owner = 1});
  std::promise<void> gate, begun;
  std::shared_future<void> open = gate.get_future().share();
  bool was_run = false;
  pool.post("one", [&, open] {
    begun.set_value();
    open.wait();
  });
  begun.get_future().wait();
  pool.post("one", [&] { was_run = true; });
  pool.stop();
  EXPECT_FALSE(pool.wait_until_idle(std::chrono::steady_clock::now()));
  pool.post("one", [&] { was_run = true; });
  gate.set_value();
  EXPECT_TRUE(pool.wait_until_idle(soon()));
  EXPECT_FALSE(was_run);
}

}  // namespace
}  // namespace plimsoll::gateway
