#include "gateway/worker_pool.hpp"

#include <future>

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
