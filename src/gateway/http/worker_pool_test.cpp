#include "gateway/http/worker_pool.hpp"

#include <atomic>
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

TEST(WorkerPool, AnOwnerHasOneThreadWhileOthersAreAbout) {
  WorkerPool pool({.threads = 4, .per_owner = 3, .per_owner_beside = 1});
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> running = 0;
  const auto work = [&running, open] {
    ++running;
    open.wait();
  };
  const auto reaches = [&](int count) {
    const auto until = soon();
    while (running < count && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return running == count;
  };
  for (int i = 0; i < 4; ++i) pool.post("noisy", work);
  EXPECT_TRUE(reaches(3)) << "alone it has as many as an owner may have";
  std::promise<void> served;
  pool.post("quiet", [&] { served.set_value(); });
  served.get_future().wait();
  gate.set_value();
  ASSERT_TRUE(pool.wait_until_idle(soon()));

  std::atomic<int> at_once = 0, most = 0;
  for (int i = 0; i < 20; ++i)
    pool.post("noisy", [&] {
      const int now = ++at_once;
      most = std::max(most.load(), now);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --at_once;
    });
  ASSERT_TRUE(pool.wait_until_idle(soon()));
  EXPECT_EQ(most, 1);
}

TEST(WorkerPool, OwnersThatWaitLongHoldUpNoOther) {
  for (const Lane lane : {Lane::bulk, Lane::upstreams}) {
    WorkerPools pools(1);
    WorkerPool& pool = pools.at(lane);
    std::promise<void> gate;
    std::shared_future<void> open = gate.get_future().share();
    std::atomic<int> running = 0;
    for (int owner = 0; owner < 16; ++owner)
      for (int i = 0; i < 3; ++i)
        pool.post(std::to_string(owner), [&running, open] {
          ++running;
          open.wait();
        });
    std::promise<void> served;
    pool.post("next", [&] { served.set_value(); });
    EXPECT_EQ(served.get_future().wait_for(patience), std::future_status::ready);
    const auto until = soon();
    while (running < 16 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_GE(running, 16);
    EXPECT_LE(running, 32);
    gate.set_value();
    EXPECT_TRUE(pool.wait_until_idle(soon()));
  }
}

TEST(WorkerPool, WorkThatFinishesStartsNoMoreThreads) {
  WorkerPool pool({.threads = 64, .per_owner = 1});
  std::set<std::thread::id> threads;
  for (int i = 0; i < 100; ++i) {
    pool.post("one", [&] { threads.insert(std::this_thread::get_id()); });
    ASSERT_TRUE(pool.wait_until_idle(soon()));
  }
  EXPECT_EQ(threads.size(), 1U);
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
