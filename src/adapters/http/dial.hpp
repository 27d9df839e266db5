// Makes connections: finds the address of a name, connects, goes through a proxy, starts TLS.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/http/wire.hpp"

namespace plimsoll::adapters {

struct Route {
  Origin origin;
  std::optional<Origin> proxy{};
};

class Dialer {
 public:
  struct Options {
    std::string agent;
    std::string certificates;
    std::chrono::milliseconds patience{};
  };
  Dialer(boost::asio::any_io_executor executor, std::shared_ptr<Watch> watch, Options options);

  // unreachable: no address, no connection, no proxy, a refused certificate, or none of it in time;
  // timed_out: the deadline came sooner than the end of our patience. `route` outlives the call.
  Awaitable<Result<std::unique_ptr<Wire>>> dial(const Route& route, Deadline deadline);

 private:
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
  struct Known {
    Endpoints endpoints;
    Deadline::Clock::time_point until;
  };
  Awaitable<Result<Endpoints>> resolve(const Route& route, Deadline deadline);
  Awaitable<Result<std::unique_ptr<Wire>>> connect(const Route& route, Deadline deadline);
  Awaitable<Result<void>> pass_proxy(Wire& wire, const Route& route, Deadline deadline);
  Result<boost::asio::ssl::context*> trust();

  boost::asio::any_io_executor executor_;
  std::shared_ptr<Watch> watch_;
  Options options_;
  std::optional<boost::asio::ssl::context> trust_;   // read when it is needed first: it is large
  std::map<std::string, Known, std::less<>> known_;  // by "host:port"
};

// "Basic YW5uOmdlaGVpbQ==" of "ann:geheim".
std::string basic_authorization(std::string_view user_info);
// "2 s", "0.5 s".
std::string in_seconds(std::chrono::milliseconds time);

}  // namespace plimsoll::adapters
