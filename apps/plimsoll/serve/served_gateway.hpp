// The gateway of `plimsoll serve`: everything that answers requests, made by one set of settings.
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
#include "serve/serve_upstreams.hpp"

namespace plimsoll {

// In the order in which it stands on each other.
class ServedGateway {
 public:
  // The settings outlive it. `before`: the one that it follows, whose limits go on; null: none.
  static Result<std::unique_ptr<ServedGateway>> open(const base::Settings& settings,
                                                     std::vector<models::ConfiguredUpstream> members,
                                                     ServedGateway* before = nullptr);
  ServedGateway(const ServedGateway&) = delete;
  ServedGateway& operator=(const ServedGateway&) = delete;

  // `listening`: a socket of the one before it, or -1.
  Result<void> listen(const ListenAddress& address, int listening);

  models::Upstreams& upstreams() { return upstreams_; }
  gateway::HttpServer& server() { return *server_; }
  engine::Engine& engine() { return engine_; }
  TraceStore& traces() { return *traces_; }
  engine::Memories& memories() { return memory_->memories(); }
  // What a thread needs that asks models: the gateway's own, and those of commands that answer by themselves.
  gateway::ThreadMaker thread_maker();
  bool has_keys() const { return doorkeeper_->gate().needs_keys(); }
  Deadline for_a_list() const { return windows_.for_a_list(); }
  ServedChat& chat() { return chat_; }
  // Forgets what `plimsoll models --forget` was told to since the last look. Blocks.
  void obey_forget_orders();

 private:
  ServedGateway(const base::Settings& settings, ModelCatalogue catalogue,
                std::unique_ptr<Documents> documents, std::unique_ptr<ServedMemory> memory,
                std::unique_ptr<TraceStore> traces, std::unique_ptr<Doorkeeper> doorkeeper,
                std::unique_ptr<SessionStore> sessions, std::vector<std::string> origins,
                std::vector<models::ConfiguredUpstream> members);
  gateway::ApiContext context();

  const base::Settings& settings_;
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
  std::unique_ptr<llama::EmbeddedModel> embedded_;  // null: the upstreams has none
  models::UpstreamModels models_;
  library::OpenIndexes open_indexes_;
  library::Collections collections_;
  engine::TraceWriter writer_;
  models::Breakers breakers_;
  engine::Engine engine_;
  conversation::Summaries summaries_;
  ServedChat chat_;
  std::unique_ptr<gateway::Extraction> extraction_;  // null: nothing is remembered by itself
  gateway::Api api_;
  std::unique_ptr<gateway::HttpServer> server_;  // last: its threads use all of the above
};

}  // namespace plimsoll
