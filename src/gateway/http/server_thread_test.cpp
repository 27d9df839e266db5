#include "gateway/http/server_thread.hpp"

#include <future>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace plimsoll::gateway {
namespace {

ThreadMaker maker_of_nothing() {
  return {[](const boost::asio::any_io_executor&) { return std::unique_ptr<HttpStreams>(); }, {}, 0};
}

TEST(ServerThread, AKeyThatIsNotCheckedYetWaitsForNoOtherKey) {
  WorkerPools workers(1);
  const ThreadMaker maker = maker_of_nothing();
  ServerThread thread(maker, workers);
  std::promise<void> gate, served;
  std::shared_future<void> open = gate.get_future().share();
  const auto spawn = [&](std::size_t key, std::function<void()> work) {
    boost::asio::co_spawn(thread.loop(), thread.elsewhere_for_key(key, std::move(work)),
                          boost::asio::detached);
  };
  for (int i = 0; i < 5; ++i) spawn(1, [open] { open.wait(); });
  spawn(2, [&served] { served.set_value(); });
  thread.loop().poll();
  EXPECT_EQ(served.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  gate.set_value();
  thread.release();
  thread.loop().run();
  workers.stop();  // before the thread that they post to
  EXPECT_TRUE(workers.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
}

// A large request of a key.
struct LargeRequest {
  LargeRequest(ServerThread& thread, MemoryBudget& budget)
      : memory(budget, 1), own(thread, Lane::bulk, "ann", &memory) {
    EXPECT_TRUE(memory.grow_to_body(body_bytes));
  }
  static constexpr std::size_t body_bytes = 1'000'000;
  HeldMemory memory;
  OwnerThread own;
  std::optional<Result<void>> begun{};

  void begin(ServerThread& thread, Deadline deadline) {
    boost::asio::co_spawn(
        thread.loop(), own.begin_plan(deadline),
        [this](const std::exception_ptr&, Result<void> result) { begun = std::move(result); });
  }
};

TEST(OwnerThread, PlansALargeRequestWhenThereIsMemoryForIt) {
  WorkerPools workers(1);
  const ThreadMaker maker = maker_of_nothing();
  ServerThread thread(maker, workers);
  MemoryBudget budget(30 * LargeRequest::body_bytes);  // for two bodies and one plan
  LargeRequest first(thread, budget), second(thread, budget);
  const auto run = [&](const std::optional<Result<void>>& until) {
    while (!until) thread.loop().run_one();
  };
  first.begin(thread, Deadline::after(std::chrono::seconds(60)));
  run(first.begun);
  EXPECT_TRUE(*first.begun);
  second.begin(thread, Deadline::after(std::chrono::milliseconds(50)));
  run(second.begun);
  ASSERT_FALSE(*second.begun);
  EXPECT_EQ(second.begun->error().code, Errc::unreachable);
  second.begun.reset();
  second.begin(thread, Deadline::after(std::chrono::seconds(60)));
  thread.loop().run_one();
  EXPECT_FALSE(second.begun);
  first.own.end_plan();
  run(second.begun);
  EXPECT_TRUE(*second.begun);
}

TEST(OwnerThread, TakesMemoryForALongAnswerOnce) {
  WorkerPools workers(1);
  const ThreadMaker maker = maker_of_nothing();
  ServerThread thread(maker, workers);
  MemoryBudget budget(10'000'000);
  HeldMemory memory(budget);
  OwnerThread own(thread, Lane::interactive, "ann", &memory);
  EXPECT_TRUE(own.hold_answer(100'000));
  EXPECT_EQ(budget.used(), 0U);  // short
  EXPECT_TRUE(own.hold_answer(4'000'000));
  EXPECT_TRUE(memory.grow_to_answer(4'000'000));  // for the client
  EXPECT_EQ(budget.used(), 4'000'000 * held_per_answer_byte);
  EXPECT_FALSE(own.hold_answer(6'000'000));
  EXPECT_EQ(budget.used(), 4'000'000 * held_per_answer_byte);
}

}  // namespace
}  // namespace plimsoll::gateway
