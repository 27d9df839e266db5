// The routes of KAITO RAGEngine for indexes and documents, in its forms and words (K5).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/collection.hpp"
#include "engine/nodes.hpp"
#include "gateway/http_server.hpp"
#include "gateway/mcp.hpp"
#include "gateway/openapi.hpp"
#include "gateway/rag_metrics.hpp"
#include "gateway/snapshot_path.hpp"

namespace plimsoll::gateway {

struct KaitoContext {
  engine::Collections* collections = nullptr;  // null: there are no such routes
  std::filesystem::path snapshots;             // below which persist and load stay
  // Writes the index into the folder, which is made; an older snapshot there gives way when it is whole.
  std::function<Result<void>(const IndexInfo& info, const std::filesystem::path& folder)> save;
  // What the folder holds becomes the index of that name, as one step. not_found: no snapshot is there.
  std::function<Result<void>(const std::filesystem::path& folder, std::string_view owner,
                             std::string_view name)>
      load;
  std::int64_t most_nodes = 300;  // that one POST /retrieve may ask for
  bool compat = false;            // its statuses also where ours say more
  RagMetrics* metrics = nullptr;  // set by the routes
};

class Kaito {
 public:
  explicit Kaito(KaitoContext context) : context_(std::move(context)) {}

  // What such a request is called in metrics; none: it is not for these routes.
  struct Match {
    RagRoute route;
    std::string name;  // of an index, decoded
  };
  // `allowed`: the methods of a route whose path fits; empty: none does.
  std::optional<Match> match(const ClientRequest& request, std::string& allowed) const;

  struct Answer {
    int status = 200;
    Json body;
  };
  // Blocks: to be called by a worker.
  Answer answer(const Match& match, const ClientRequest& request, Deadline deadline) const;

  static std::vector<RouteAbout> about();

 private:
  using Handler = Answer (Kaito::*)(const Match& match, const ClientRequest& request,
                                    Deadline deadline) const;
  struct Route {
    RouteAbout about;
    RagRoute route;
    Handler handler;
  };
  static const std::vector<Route>& routes();

  Answer index_documents(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer list_indexes(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer list_documents(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer update_documents(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer delete_documents(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer delete_index(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer persist(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer load(const Match& match, const ClientRequest& request, Deadline deadline) const;
  Answer retrieve(const Match& match, const ClientRequest& request, Deadline deadline) const;

  // What a step in the store took, whether it succeeded or not.
  template <typename Step>
  auto timed(StoreOperation operation, const Step& step) const {
    const auto began = RagMetrics::Clock::now();
    auto outcome = step();
    if (context_.metrics != nullptr)
      context_.metrics->add(operation, outcome.has_value(), RagMetrics::Clock::now() - began);
    return outcome;
  }
  void watch(const std::vector<engine::RankedNode>& nodes, std::int64_t wanted) const;

  Answer failed(const Error& error, std::string_view doing = {}) const;
  // Where the request wants a snapshot to be. Keys with indexes of their own have snapshots of their own.
  Result<SnapshotPath> snapshot_of(const ClientRequest& request, std::string_view name) const;

  KaitoContext context_;
};

}  // namespace plimsoll::gateway
