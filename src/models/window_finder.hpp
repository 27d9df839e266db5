// Finds the window of a model (rules D1 to D5): from the settings, else the server, else the catalogue, else
// the default, with a record of all attempts.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "models/upstream.hpp"
#include "models/window_cache.hpp"
#include "plimsoll/http.hpp"
#include "plimsoll/models.hpp"

namespace plimsoll::models {

struct FinderRules {
  std::optional<Tokens> configured;           // LLM_CONTEXT_WINDOW: overrides everything
  Tokens otherwise = 4096;                    // DEFAULT_CONTEXT_WINDOW
  WindowCache::Times times;                   // cache_ttl_seconds
  std::chrono::milliseconds each_ask{2000};   // time limit of one request
  std::chrono::milliseconds one_model{5000};  // time limit of all requests for one model
};

struct ListedModel {
  std::string name;
  WindowCache::Found report;
};

// Thread-safe. The client and the catalogue must outlive it.
class WindowFinder {
 public:
  WindowFinder(HttpClient& http, const ModelCatalogue& catalogue, FinderRules rules,
               std::function<WindowCache::Clock::time_point()> now = WindowCache::Clock::now);

  // Never null; returns by the deadline. Without an upstream no server is asked; the path of a .gguf
  // file is read. If the default is used, all attempts are logged as a warning.
  // `with_override`: whether LLM_CONTEXT_WINDOW applies. It is meant for the requested model, not for
  // fallback models.
  WindowCache::Found find(std::string_view model, const Upstream* upstream, Deadline deadline,
                          bool with_override = true);

  // Returns every model that the server lists. Errors contain all attempts. Known windows are not asked
  // for again. `progress` is called before each model.
  using Progress = std::function<void(std::size_t done, std::size_t all, std::string_view model)>;
  Result<std::vector<ListedModel>> list(const Upstream& upstream, Deadline deadline,
                                        const Progress& progress = {});

  // Forgets all windows and kinds.
  void refresh();

  // Returns whether the user's own entry overrides the server for this model.
  bool is_configured(std::string_view model) const;

  // Returns the given or detected kind. None: not known yet.
  std::optional<ServerKind> known_kind(const Upstream& upstream);

  WindowCache& cache() { return cache_; }

 private:
  ModelReport look(std::string_view model, const Upstream* upstream, Deadline deadline);
  ModelReport conclude(std::string_view model, const Upstream* upstream, std::optional<ServerKind> kind,
                       std::optional<ReportedModel> served, std::vector<WindowAttempt> tried) const;
  const ModelCard* own_entry(std::string_view model) const;
  bool from_server(const std::optional<ReportedModel>& served, ModelReport& report) const;
  bool from_catalogue(std::string_view model, ModelReport& report) const;
  void assume(ModelReport& report) const;
  void remember_kind(const Upstream& upstream, std::optional<ServerKind> kind);

  HttpClient& http_;
  const ModelCatalogue& catalogue_;
  FinderRules rules_;
  bool has_own_entries_;
  WindowCache::Found configured_;  // the same for every model
  WindowCache cache_;
  std::mutex mutex_;
  std::map<std::string, ServerKind> kinds_;  // by the upstream's cache key
};

}  // namespace plimsoll::models
