// The routes of KAITO RAGEngine for indexes and documents, with its formats and texts (K5).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http/http_server.hpp"
#include "gateway/kaito/rag_metrics.hpp"
#include "gateway/kaito/snapshot_path.hpp"
#include "gateway/mcp/mcp.hpp"
#include "gateway/router.hpp"
#include "library/collections.hpp"
#include "library/nodes.hpp"

namespace plimsoll::gateway {

struct KaitoContext {
  library::Collections* collections = nullptr;  // null: no such routes
  std::filesystem::path snapshots;              // root folder of persist and load
  // Saves the index to the folder, which is created; replaces an older snapshot once the new one is complete.
  std::function<Result<void>(const IndexInfo& info, const std::filesystem::path& folder)> save;
  // Loads the index from the folder under this name, atomically. not_found: no snapshot.
  std::function<Result<void>(const std::filesystem::path& folder, std::string_view owner,
                             std::string_view name)>
      load;
  std::int64_t most_nodes = 300;  // per POST /retrieve
  bool compat = false;            // use its statuses even where ours are more precise
  RagMetrics* metrics = nullptr;  // set by the routes
};

class Kaito {
 public:
  explicit Kaito(KaitoContext context) : context_(std::move(context)) {}

  // Adds the routes if there are collections.
  void add_routes(Router& router) const;

 private:
  using Answer = JsonAnswer;

  Answer index_documents(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer list_indexes(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer list_documents(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer update_documents(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer delete_documents(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer delete_index(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer persist(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer load(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer retrieve(const ClientRequest& request, const std::string& name, Deadline deadline) const;

  // Measures a step in the store, successful or not.
  template <typename Step>
  auto timed(StoreOperation operation, const Step& step) const {
    const auto began = RagMetrics::Clock::now();
    auto outcome = step();
    if (context_.metrics != nullptr)
      context_.metrics->add(operation, outcome.has_value(), RagMetrics::Clock::now() - began);
    return outcome;
  }
  void watch(const std::vector<library::RankedNode>& nodes, std::int64_t wanted) const;

  Answer failed(const Error& error, std::string_view doing = {}) const;
  // Returns the path of the request's snapshot. Keys with their own indexes have their own snapshots.
  Result<SnapshotPath> snapshot_of(const ClientRequest& request, std::string_view name) const;

  KaitoContext context_;
};

}  // namespace plimsoll::gateway
