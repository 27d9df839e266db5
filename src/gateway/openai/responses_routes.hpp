// OpenAI's Responses API, for every upstream: asked as the chat that a request stands for. A server of
// OpenAI's own kind is asked as it is where nothing of ours is needed; one that turns out to have no such
// route is asked for chats from then on.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "gateway/http/http_server.hpp"
#include "gateway/openai/kept_responses.hpp"
#include "gateway/router.hpp"

namespace plimsoll::gateway {

class ResponsesRoutes {
 public:
  // `sessions`: null where nothing is kept. All of it outlives it.
  ResponsesRoutes(engine::Engine& engine, SessionStore* sessions);

  void add_routes(Router& router) const;
  Awaitable<void> ask(Call call) const;
  // GET /v1/responses/ID and ID/input_items, and DELETE.
  Awaitable<void> show(Call call) const;
  Awaitable<void> forget(Call call) const;
  // Servers may have been replaced by others: who lacks the route is found anew.
  void ask_all_again() const;

 private:
  struct Prepared;
  // With the chat that it stands for, unless a server can be asked as it is and `as_chat` does not say
  // otherwise.
  Result<Prepared> prepare(const ClientRequest& request, bool as_chat) const;
  // The server that is asked as it is; none: the model is asked for a chat.
  std::optional<std::size_t> native_server(const nlohmann::ordered_json& request) const;
  // False: the server has no such route, and nothing was said to the client.
  Awaitable<bool> ask_natively(Call call, const Prepared& prepared) const;
  Awaitable<void> ask_as_chat(Call call, Prepared prepared) const;
  Result<nlohmann::ordered_json> find(const ClientRequest& request) const;

  engine::Engine& engine_;
  std::optional<KeptResponses> kept_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, Deadline> lacking_;  // servers without the route, until they are tried again
};

}  // namespace plimsoll::gateway
