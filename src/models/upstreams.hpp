// The servers of models behind the gateway: which there are, which models each has, and where a request for
// one goes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/upstream.hpp"
#include "models/window_finder.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::models {

struct ConfiguredUpstream {
  std::string name;  // "ollama": what models may be prefixed with, as "ollama/llama3.2"
  Upstream server;
  // Of the member that runs inside this process: its one model, of which nobody has to be asked.
  std::shared_ptr<const PlanModel> embedded = nullptr;
};

// Where a model is served.
struct ModelLocation {
  std::size_t member = 0;
  std::string model;  // as the server knows it

  bool operator==(const ModelLocation&) const = default;
};

// What one server said when it was asked for its models.
struct UpstreamList {
  bool asked = false;
  std::vector<ListedModel> models;
  std::string problem;  // why there is no list
  ServerKind kind = ServerKind::openai;
};

// Any thread may call anything at any time. The finder outlives it.
class Upstreams {
 public:
  Upstreams(std::vector<ConfiguredUpstream> members, WindowFinder& finder);

  const std::vector<ConfiguredUpstream>& members() const { return members_; }

  // Asks every server for its models. One that does not answer keeps the models that it had.
  void refresh(Deadline deadline);
  // The same, of those that did not answer last time.
  void refresh_silent(Deadline deadline);

  using Models = std::vector<UpstreamList>;  // by member
  std::shared_ptr<const Models> models() const;
  ServerKind kind_of(std::size_t member) const { return (*models())[member].kind; }
  bool is_embedded(std::size_t member) const { return members_[member].embedded != nullptr; }
  // Whether it tells in each stream what it has read and written, asked or not.
  bool always_tells_usage(std::size_t member) const {
    return is_embedded(member) || kind_of(member) == ServerKind::ollama;
  }

  // By the name of a server before a slash, else by which server lists the model, else the only server that
  // could have it. An empty name is the first model of the first server that has one. unknown_model names
  // the nearest.
  Result<ModelLocation> find(std::string_view model) const;
  // The server that lists exactly this name, or is named in front of one that it lists; also where that
  // server gave no list.
  std::optional<ModelLocation> listed_exactly(std::string_view model) const;
  // Whether a server lists it, or is named in front of it.
  bool has(std::string_view model) const;
  // Where the index of MODEL+INDEX is named: the last '+' behind a model that a server lists, else the last
  // of all. npos: there is none, or a server lists the whole.
  std::size_t plus_in(std::string_view model) const;

 private:
  void refresh_where(const std::function<bool(const UpstreamList&)>& wanted, Deadline deadline);
  void keep(std::size_t server, UpstreamList member);
  std::optional<ModelLocation> listed(std::string_view model, const Models& models) const;
  Result<ModelLocation> unknown(std::string_view model, const Models& models) const;

  std::vector<ConfiguredUpstream> members_;
  WindowFinder& finder_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Models> models_;
};

}  // namespace plimsoll::models
