#include "engine/testing_engine.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace plimsoll::engine {

void run_to_end(Awaitable<void> work) {
  boost::asio::io_context io;
  boost::asio::co_spawn(io, std::move(work), [](const std::exception_ptr& thrown) { EXPECT_FALSE(thrown); });
  io.run();
}

}  // namespace plimsoll::engine
