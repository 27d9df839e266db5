// The table of routes, filled by Api and by add_routes() of each API. Matcher, key check, metrics and
// /openapi.json read it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/auth/gate.hpp"
#include "gateway/http/http_server.hpp"
#include "gateway/http/worker_pool.hpp"
#include "gateway/kaito/rag_metrics.hpp"
#include "gateway/mcp/mcp.hpp"
#include "gateway/openapi.hpp"

namespace plimsoll::gateway {

// One request while it is handled.
struct Call {
  engine::WorkerContext& thread;
  ClientRequest& request;
  ClientReply& reply;
  Deadline deadline;
  std::string name{};  // what the path has for the {name} of its pattern, decoded
};

struct Route {
  using Handler = std::function<Awaitable<void>(Call call)>;

  RouteAbout about;
  Handler handler;
  Access access{};
  Lane lane = Lane::interactive;     // which threads do its blocking work
  std::optional<RagRoute> metric{};  // under which of RAGEngine's names it is counted
};

class Router {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& routes() const { return routes_; }

  struct Match {
    const Route* route = nullptr;  // null: there is none for this path and method
    std::string name{};
    std::string allowed{};  // the methods of routes for this path, where none is for this method
  };
  // The first route that fits.
  Match match(const ClientRequest& request) const;

 private:
  std::vector<Route> routes_;
};

// What a handler that blocks gives back.
struct JsonAnswer {
  int status = 200;
  Json body;
  std::vector<HttpHeader> headers{};
};

// Handlers that run on a worker: f(request, name, deadline) is a JsonAnswer, or a Result of one, whose error
// is told in OpenAI's form.
using Blocking =
    std::function<JsonAnswer(const ClientRequest& request, const std::string& name, Deadline deadline)>;
using Fallible = std::function<Result<JsonAnswer>(const ClientRequest& request, const std::string& name,
                                                  Deadline deadline)>;
Route::Handler on_worker(Blocking work);
Route::Handler on_worker(Fallible work);

Awaitable<void> send_json(ClientReply& reply, int status, std::string body,
                          std::vector<HttpHeader> headers = {});
Awaitable<void> send_error(ClientReply& reply, const Error& error, std::vector<HttpHeader> headers = {});

}  // namespace plimsoll::gateway
