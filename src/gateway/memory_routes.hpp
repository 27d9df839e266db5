// The memories of whoever asks: /v1/memories.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/memories.hpp"
#include "gateway/http_server.hpp"
#include "gateway/mcp.hpp"
#include "gateway/openapi.hpp"

namespace plimsoll::gateway {

class MemoryRoutes {
 public:
  // Null: there are no such routes. The memories outlive it.
  explicit MemoryRoutes(engine::Memories* memories) : memories_(memories) {}

  struct Call {
    engine::Crew& crew;
    ClientRequest& request;
    ClientReply& reply;
    Deadline deadline;
  };
  struct Route;
  struct Match {
    const Route* route;
    std::string id;  // decoded; empty where the path has none
  };
  // `allowed`: the methods of a route whose path fits are added.
  std::optional<Match> match(const ClientRequest& request, std::string& allowed) const;
  Awaitable<void> answer(Match match, Call call) const;

  static std::vector<RouteAbout> about();

 private:
  static const std::vector<Route>& routes();

  struct Answer {
    int status = 200;
    Json body;
  };
  // These block.
  Result<Answer> add(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> list(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> show(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> forget(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> feedback(const ClientRequest& request, const std::string& id, Deadline deadline) const;

  engine::Memories* memories_;
};

struct MemoryRoutes::Route {
  RouteAbout about;
  Result<Answer> (MemoryRoutes::*blocking)(const ClientRequest& request, const std::string& id,
                                           Deadline deadline) const;
};

}  // namespace plimsoll::gateway
