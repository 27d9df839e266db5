// Finds the window of a model (rules D1 to D5): what the user set, else what the server says, else the
// catalogue, else the default, with every way that was tried and what came of it.
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
  std::optional<Tokens> configured;           // LLM_CONTEXT_WINDOW: stands above everything
  Tokens otherwise = 4096;                    // DEFAULT_CONTEXT_WINDOW
  WindowCache::Times times;                   // cache_ttl_seconds
  std::chrono::milliseconds each_ask{2000};   // the longest that one question may take
  std::chrono::milliseconds one_model{5000};  // and all questions for one model
};

struct ListedModel {
  std::string name;
  WindowCache::Found report;
};

// Any thread may call anything at any time. The client and the catalogue outlive it.
class WindowFinder {
 public:
  WindowFinder(HttpClient& http, const ModelCatalogue& catalogue, FinderRules rules,
               std::function<WindowCache::Clock::time_point()> now = WindowCache::Clock::now);

  // Never null, and by the deadline. Without an upstream no server is asked; a model that is the path of a
  // .gguf file is read from it. A default is logged as a warning with all that was tried.
  // `with_override`: whether LLM_CONTEXT_WINDOW decides. It is meant for the model that is asked for, and not
  // for those that may answer in its place.
  WindowCache::Found find(std::string_view model, const Upstream* upstream, Deadline deadline,
                          bool with_override = true);

  // Every model that the server lists. An error says what was tried. Windows that are known are not asked
  // for again. `progress` is told before each model: how many are done, and of how many.
  using Progress = std::function<void(std::size_t done, std::size_t all, std::string_view model)>;
  Result<std::vector<ListedModel>> list(const Upstream& upstream, Deadline deadline,
                                        const Progress& progress = {});

  // Forgets all windows and kinds.
  void refresh();

  // Whether the user's own entry decides this model, whatever a server says.
  bool is_configured(std::string_view model) const;

  // The kind that was given for it, or that it showed itself to be. None: nobody knows yet.
  std::optional<ServerKind> known_kind(const Upstream& upstream);

  WindowCache& cache() { return cache_; }

 private:
  ModelReport look(std::string_view model, const Upstream* upstream, Deadline deadline);
  ModelReport conclude(std::string_view model, const Upstream* upstream, std::optional<ServerKind> kind,
                       std::optional<ModelLocation> served, std::vector<WindowAttempt> tried) const;
  const ModelCard* own_entry(std::string_view model) const;
  bool from_server(const std::optional<ModelLocation>& served, ModelReport& report) const;
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
