// The client's memories: /v1/memories.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/evidence/memories.hpp"
#include "gateway/http/http_server.hpp"
#include "gateway/mcp/mcp.hpp"
#include "gateway/router.hpp"

namespace plimsoll::gateway {

class MemoryRoutes {
 public:
  // Null: no such routes. The memories must outlive it.
  explicit MemoryRoutes(engine::Memories* memories) : memories_(memories) {}

  void add_routes(Router& router) const;

 private:
  using Answer = JsonAnswer;

  // These functions block.
  Result<Answer> add(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> list(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> show(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> forget(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<Answer> feedback(const ClientRequest& request, const std::string& id, Deadline deadline) const;

  engine::Memories* memories_;
};

}  // namespace plimsoll::gateway
