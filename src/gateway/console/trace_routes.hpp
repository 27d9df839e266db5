// Traces over HTTP, each client's own: a list, one in full, and requests as they happen.
#pragma once

#include "gateway/router.hpp"

namespace plimsoll::gateway {

class TraceRoutes {
 public:
  // All outlive the routes. `feed` null: nobody can watch; `gate` null: everybody may come in.
  TraceRoutes(TraceStore* traces, engine::TraceFeed* feed, Gate* gate)
      : traces_(traces), feed_(feed), gate_(gate) {}

  void add_routes(Router& router) const;

 private:
  // These two block.
  Result<JsonAnswer> list(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Result<JsonAnswer> show(const ClientRequest& request, const std::string& id, Deadline deadline) const;
  Awaitable<void> stream(Call call) const;
  bool may_still_watch(const ClientRequest& request) const;

  TraceStore* traces_;
  engine::TraceFeed* feed_;
  Gate* gate_;
};

}  // namespace plimsoll::gateway
