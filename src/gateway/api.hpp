// The gateway's routes: OpenAI's, the planner's, and those that operators ask.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/chat/chat_routes.hpp"
#include "gateway/console/trace_routes.hpp"
#include "gateway/console/view_routes.hpp"
#include "gateway/http/http_server.hpp"
#include "gateway/kaito/kaito.hpp"
#include "gateway/mcp/mcp.hpp"
#include "gateway/memory/memory_routes.hpp"
#include "gateway/ollama/ollama_ask.hpp"
#include "gateway/openai/responses_routes.hpp"
#include "gateway/router.hpp"
#include "plimsoll/embedder.hpp"

namespace plimsoll::gateway {

class Gate;

// The embedders of this program.
struct OwnEmbedders {
  std::vector<std::string> names;  // that are listed, and that /v1/embeddings does not send to an upstream
  std::function<Result<Embedder*>(const std::string& name)> find;  // empty name: the usual one
};

// What the routes stand on; all of it outlives them.
struct ApiContext {
  engine::Engine& engine;
  models::Upstreams& upstreams;
  models::WindowFinder& finder;
  McpServer tools;  // for /mcp, /v1/count and /v1/strategy
  OwnEmbedders embedders;
  std::string version;
  std::chrono::milliseconds request_timeout{600'000};
  KaitoContext kaito{};
  ChatContext chat{};
  engine::Memories* memories = nullptr;     // null: there are none
  Gate* gate = nullptr;                     // null: everybody may come in
  std::vector<std::string> cors_origins{};  // pages that may read answers
  bool console = true;                      // the web page at /
  TraceStore* traces = nullptr;             // null: traces cannot be read
  ViewContext view{};
};

class Api {
 public:
  explicit Api(ApiContext context);

  // Whether a request may be let in at all, by what stands above its body, which is not read otherwise.
  bool wants_body(const ClientRequest& head) const;
  Awaitable<void> handle(ServerThread& thread, ClientRequest& request, ClientReply& reply) const;
  std::shared_ptr<RagMetrics> rag_metrics() const { return watched_; }

 private:
  void add_own_routes();
  std::vector<RouteAbout> all_routes() const;
  // 404 or 405.
  Awaitable<void> refuse_route(Call call, const Router::Match& match) const;

  Awaitable<void> ask_model(Call call) const;  // chat, completions
  Awaitable<void> messages(Call call) const;
  Awaitable<void> count_messages(Call call) const;
  bool is_own_embedder(std::string_view model) const;
  Awaitable<void> embeddings(Call call) const;
  Awaitable<void> plan(Call call) const;
  Awaitable<void> count(Call call) const;
  Awaitable<void> strategy(Call call) const;
  Awaitable<void> models(Call call) const;
  Awaitable<void> model(Call call) const;
  Awaitable<void> refresh_models(Call call) const;
  Awaitable<void> health(Call call) const;
  Awaitable<void> ready(Call call) const;
  Awaitable<void> metrics(Call call) const;
  Awaitable<void> describe(Call call) const;
  Awaitable<void> root(Call call) const;
  Awaitable<void> search(Call call) const;

  Awaitable<void> ollama_chat(Call call) const;
  Awaitable<void> ollama_generate(Call call) const;
  Awaitable<void> ollama_ask(Call call, OllamaRoute route) const;
  Awaitable<void> ollama_embed(Call call) const;
  Awaitable<void> ollama_tags(Call call) const;  // and those that run
  Awaitable<void> ollama_show(Call call) const;
  Awaitable<void> ollama_version(Call call) const;
  Awaitable<void> ollama_other(Call call) const;
  Awaitable<void> mcp(Call call) const;

  // `mend`: what is known better here, put into the result.
  Awaitable<void> use_tool(Call call, std::string_view name, const std::function<void(Json&)>& mend) const;

  ApiContext context_;
  std::shared_ptr<RagMetrics> watched_;
  Kaito kaito_;
  ChatRoutes chat_;
  MemoryRoutes memory_;
  ResponsesRoutes responses_;
  TraceRoutes traces_;
  ViewRoutes view_;
  Router router_;  // of all that stand above
  mutable std::once_flag described_;
  mutable std::string description_;                     // /openapi.json, made when it is first asked for
  mutable std::atomic<std::int64_t> refreshed_ms_ = 0;  // when the upstreams were asked for their models
};

// A trace's name: rises with time, and no two are alike.
std::string new_trace_id();

}  // namespace plimsoll::gateway
