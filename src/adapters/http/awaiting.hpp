// For tests: runs a coroutine to its end, or fails when it takes far too long.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "plimsoll/http_stream.hpp"

namespace plimsoll::adapters {

template <typename T>
T wait_for(boost::asio::io_context& io, Awaitable<T> awaitable) {
  std::optional<T> value;
  std::exception_ptr thrown;
  boost::asio::co_spawn(io, std::move(awaitable), [&](std::exception_ptr error, T result) {
    thrown = std::move(error);
    value.emplace(std::move(result));
    io.stop();
  });
  io.restart();
  io.run_for(std::chrono::seconds(30));
  if (!value) throw std::runtime_error("the coroutine did not end");
  if (thrown) std::rethrow_exception(thrown);
  return *std::move(value);
}

}  // namespace plimsoll::adapters
