#include "gateway/http/server_thread.hpp"

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace plimsoll::gateway
