// Replies as they are made, on Asio: the HttpStreams port. Connections are kept and used again. Proxies are
// taken from the environment (http_proxy, https_proxy, all_proxy, no_proxy), but never for this machine
// itself. Redirects are handed back, not followed.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "plimsoll/http_stream.hpp"

namespace plimsoll::adapters {

struct StreamOptions {
  std::string agent = "plimsoll";  // what servers see as user agent
  std::string certificates{};      // a file of the authorities to trust; empty: the system's own
  // For name, connection, proxy and TLS together. A model may think for minutes; connecting takes no time.
  std::chrono::milliseconds connect_timeout{10'000};
  std::size_t idle_connections = 64;           // kept for each server
  std::chrono::milliseconds idle_age{30'000};  // after which a kept one is closed
  std::size_t header_limit_bytes = 64'000;
  std::size_t read_bytes = 32'768;  // of a body at a time, at most
};

// For the one thread that runs `executor`. Reads the environment now.
std::unique_ptr<HttpStreams> make_streams(const boost::asio::any_io_executor& executor,
                                          StreamOptions options);

}  // namespace plimsoll::adapters
