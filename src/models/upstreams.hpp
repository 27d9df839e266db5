// The model servers behind the gateway, their models, and the routing of requests to
// them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/local_model.hpp"
#include "models/upstream.hpp"
#include "models/window_finder.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::models {

struct ConfiguredUpstream {
  std::string name;  // "ollama": prefix of models, as in "ollama/llama3.2"
  Upstream server;
  // Its models, for the member that runs inside this process.
  std::vector<std::shared_ptr<const LocalModel>> embedded{};

  // Null: no such model.
  const LocalModel* embedded_model(std::string_view model) const;
};

// Where a model is served.
struct ModelLocation {
  std::size_t member = 0;
  std::string model;  // the server's name for it

  bool operator==(const ModelLocation&) const = default;
};

// One server's list of models.
struct UpstreamList {
  bool asked = false;
  std::vector<ListedModel> models;
  std::string problem;  // why there is no list
  ServerKind kind = ServerKind::openai;
};

// Thread-safe. The finder must outlive it.
class Upstreams {
 public:
  Upstreams(std::vector<ConfiguredUpstream> members, WindowFinder& finder);

  const std::vector<ConfiguredUpstream>& members() const { return members_; }

  // Copies the lists of servers that have the same address and key.
  void copy_lists(const Upstreams& from);
  // Asks every server for its models, all at once. A server that does not answer keeps its previous list.
  void refresh(Deadline deadline);
  // The same for servers that did not answer last time.
  void refresh_silent(Deadline deadline);

  using Models = std::vector<UpstreamList>;  // by member
  std::shared_ptr<const Models> models() const;
  ServerKind kind_of(std::size_t member) const { return (*models())[member].kind; }
  bool is_embedded(std::size_t member) const { return !members_[member].embedded.empty(); }
  // Returns whether it reports usage in every stream, even if not asked.
  bool always_tells_usage(std::size_t member) const {
    const ServerKind kind = kind_of(member);
    return is_embedded(member) || kind == ServerKind::ollama || kind == ServerKind::anthropic;
  }

  // Finds a model by a server's name before a slash, else by the server that lists it, else the only server
  // that could have it. An empty name means the first model of the first server that has one. unknown_model:
  // the error names the nearest.
  Result<ModelLocation> find(std::string_view model) const;
  // Finds the server that lists exactly this name, or whose name is the prefix, even if that server gave
  // no list.
  std::optional<ModelLocation> listed_exactly(std::string_view model) const;
  // Returns the error for a model that no server lists; it names the nearest.
  Error not_listed(std::string_view model) const { return not_listed(model, *models()); }
  // Returns whether a server lists it or its name is the prefix.
  bool has(std::string_view model) const;
  // Returns the position of '+' in MODEL+INDEX: the last one after a listed model, else the last one
  // of all. npos: there is none, or a server lists the whole name.
  std::size_t plus_in(std::string_view model) const;

 private:
  void ask(std::size_t server, UpstreamList before, Deadline deadline);
  void refresh_where(const std::function<bool(const UpstreamList&)>& wanted, Deadline deadline);
  void keep(std::size_t server, UpstreamList member);
  std::optional<ModelLocation> listed(std::string_view model, const Models& models) const;
  Result<ModelLocation> unknown(std::string_view model, const Models& models) const;
  static Error not_listed(std::string_view model, const Models& models);

  std::vector<ConfiguredUpstream> members_;
  WindowFinder& finder_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Models> models_;
};

}  // namespace plimsoll::models
