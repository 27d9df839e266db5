// The gateway of `plimsoll serve`: everything that answers requests, built from one set of settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/api.hpp"
#include "index/documents.hpp"
#include "serve/embedded.hpp"
#include "serve/find_window.hpp"
#include "serve/serve_chat.hpp"
#include "serve/serve_keys.hpp"
#include "serve/serve_memory.hpp"
#include "serve/serve_spans.hpp"
#include "serve/serve_upstreams.hpp"

namespace plimsoll {

// Members are in the order of their dependencies.
class ServedGateway {
 public:
  // The settings must outlive it. `before`: the gateway it replaces, whose limits it takes over; null: none.
  static Result<std::unique_ptr<ServedGateway>> open(const config::Settings& settings,
                                                     std::vector<models::ConfiguredUpstream> members,
                                                     ServedGateway* before = nullptr);
  ServedGateway(const ServedGateway&) = delete;
  ServedGateway& operator=(const ServedGateway&) = delete;

  // `before`: of the replaced gateway, whose socket and memory are shared; null: none.
  Result<void> listen(const ListenAddress& address, const gateway::HttpServer* before = nullptr);

  models::Upstreams& upstreams() { return upstreams_; }
  gateway::HttpServer& server() { return *server_; }
  // Ends those who watch requests, then drains the server.
  bool drain();
  engine::Engine& engine() { return engine_; }
  TraceStore& traces() { return *traces_; }
  engine::Memories& memories() { return memory_->memories(); }
  // Creates what a thread needs to call models, for the gateway and for commands without a server.
  gateway::ThreadMaker thread_maker();
  bool has_keys() const { return doorkeeper_->gate().needs_keys(); }
  Deadline for_a_list() const { return windows_.for_a_list(); }
  // Ends running requests for models and windows, and refuses further ones; at the end of the gateway.
  void stop_asking() { windows_.stop(); }
  ServedChat& chat() { return chat_; }
  // Executes the orders of `plimsoll models --forget` since the last call. Blocks.
  void obey_forget_orders();

 private:
  ServedGateway(const config::Settings& settings, ModelCatalogue catalogue,
                std::unique_ptr<Documents> documents, std::unique_ptr<ServedMemory> memory,
                std::unique_ptr<TraceStore> traces, std::unique_ptr<Doorkeeper> doorkeeper,
                std::unique_ptr<SessionStore> sessions, std::vector<std::string> origins,
                std::vector<models::ConfiguredUpstream> members, std::vector<HttpHeader> for_collector);
  gateway::ApiContext context();

  const config::Settings& settings_;
  ModelCatalogue catalogue_;
  std::unique_ptr<Documents> documents_;
  std::unique_ptr<ServedMemory> memory_;
  std::unique_ptr<TraceStore> traces_;
  std::unique_ptr<Doorkeeper> doorkeeper_;
  std::vector<std::string> origins_;
  ledger::DriftBook drift_;
  std::int64_t obeyed_ = 0;  // the number of the last order to forget
  FoundWindows windows_;
  models::Upstreams upstreams_;
  EmbeddedModels embedded_;  // empty: not among the upstreams
  models::UpstreamModels models_;
  library::OpenIndexes open_indexes_;
  library::Collections collections_;
  engine::TraceWriter writer_;
  engine::TraceFeed feed_;
  ServedSpans spans_;
  models::Breakers breakers_;
  engine::Engine engine_;
  conversation::Summaries summaries_;
  conversation::TurnVectors turn_vectors_;
  ServedChat chat_;
  std::unique_ptr<gateway::Extraction> extraction_;  // null: facts are not extracted automatically
  gateway::Api api_;
  std::unique_ptr<gateway::HttpServer> server_;  // last: its threads use all of the above
};

}  // namespace plimsoll
