// Properties of models on the gateway's servers, for planning.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "base/clock.hpp"
#include "ledger/drift.hpp"
#include "models/upstreams.hpp"
#include "models/window_signs.hpp"
#include "plimsoll/plan.hpp"

namespace plimsoll::models {

struct UpstreamRules {
  std::optional<Tokens> ollama_num_ctx_max;
  Tokens default_window = 4096;
  std::function<std::int64_t()> now_ms = base::utc_ms;
};

// What was learned from replies about a model, for one owner's requests.
struct LearnedModel {
  budget::Drift drift{};
  std::optional<Tokens> window{};

  // Returns whether it reduces the room of a plan.
  bool holds_back() const { return window || budget::margin_for(drift) > budget::margin_for({}); }
};
// Applies what was learned to a model: a margin of at most an eighth of its window, and a window if no
// setting determines it.
void apply(const LearnedModel& learned, PlanModel& model);

// The chat template of ours that renders like the server.
struct ServedFormat {
  std::string name{};  // for ChatOptions::chat_template; empty: from the catalogue
  bool chats = false;  // chats are rendered identically
  bool tools = false;  // chats with tools too
};

// Returns the largest window to request from Ollama (U2): at most the model's maximum and the user's limit.
// Without a user limit: the served window, at least 16,384.
Tokens ollama_reach(Tokens served, Tokens maximum, std::optional<Tokens> limit);
// Returns the window to request, in steps, so that a growing conversation does not reload the model each
// turn. `loaded`: the current window, which stays if it is large enough.
Tokens ollama_num_ctx(Tokens needed, Tokens loaded, Tokens reach);

// Thread-safe. Its dependencies must outlive it.
class UpstreamModels {
 public:
  UpstreamModels(const Upstreams& upstreams, WindowFinder& finder, const ModelCatalogue& catalogue,
                 const TokenizerLibrary& tokenizers, const ledger::DriftBook& drift,
                 const UpstreamRules& rules);

  // Returns whether the window of this model is known without a request.
  bool is_known(const ModelLocation& location) const;
  // Returns whether `open` would ask the server, which may take seconds.
  bool asks_server(const ModelLocation& location) const;
  // Returns the model as described by its server, without what was learned. `with_override`: whether
  // LLM_CONTEXT_WINDOW applies, see WindowFinder.
  Result<PlanModel> open(const ModelLocation& location, Deadline deadline, bool with_override = true) const;
  // Finds a model on the servers: by its exact name, else by the name without provider, tag and similar
  // parts, else by the same model in the catalogue (D3). None: no server lists it. A model with the name of a
  // server that gave no list as prefix counts as listed.
  std::optional<ModelLocation> served_as(std::string_view model) const;
  // Returns the window as listed by the server, or as it can be requested; sends no request. None: no server
  // lists it.
  std::optional<Tokens> listed_window(const ModelLocation& location) const;
  // Returns what the model costs on its server. None: not known, or it costs nothing by the request.
  std::optional<Prices> prices_of(const ModelLocation& location) const;
  // Call after the server answered a request: if its window is not known yet, the next request asks for it.
  void heard_from(const ModelLocation& location) const;
  // Forgets a window that was found a while ago, so that the server is asked for it again. False: it is
  // recent or not known. A server may have been wrong for a moment, and that must not refuse requests.
  bool doubt_window(const ModelLocation& location) const;
  bool same(std::string_view a, std::string_view b) const { return catalogue_models_.same(a, b); }
  const Upstreams& upstreams() const { return upstreams_; }

  LearnedModel learned(const ModelLocation& location, const std::string& owner) const;
  // Returns the key for drift: server, model, chat template and owner.
  DriftKey drift_key(const ModelLocation& location, const std::string& owner) const;
  std::int64_t now_ms() const { return rules_.now_ms(); }
  // Windows that servers report in errors.
  WindowSigns& window_signs() { return signs_; }
  const WindowSigns& window_signs() const { return signs_; }
  // Stores how this model's server renders chats, compared with ours (U2).
  void learn_format(const ModelLocation& location, ServedFormat format);
  // None: not compared yet, or ten minutes ago without one that is alike.
  std::optional<ServedFormat> format_of(const ModelLocation& location) const;
  // Forgets how servers render chats, of one model or of all (empty).
  void forget_formats(std::string_view model);

  // Returns the part of the planned window that is available to requests that cannot ask for a window.
  Tokens unasked_window(const ModelLocation& location, Tokens planned) const;
  // Returns the window to load an Ollama model with, for a plan with this need. None: the server does not let
  // us choose.
  std::optional<Tokens> window_to_load(const ModelLocation& location, Tokens needed);
  // After a truncation: the next request asks for a larger window. False: there is no larger one.
  bool raise_window(const ModelLocation& location);

 private:
  struct Known {
    WindowCache::Found found;  // source of the other fields
    PlanModel model;
  };
  struct Reach {
    Tokens served = 0;
    Tokens most = 0;
  };
  Reach reach_of(const ModelLocation& location) const;
  using Key = std::pair<std::size_t, std::string>;
  static Key key_of(const ModelLocation& location) { return {location.member, location.model}; }
  Result<PlanModel> make(const ModelLocation& location, const ModelReport& report) const;
  std::shared_ptr<const Known> known(const ModelLocation& location) const;

  const Upstreams& upstreams_;
  WindowFinder& finder_;
  const ModelCatalogue& catalogue_;
  CatalogueModels catalogue_models_;
  const ledger::DriftBook& drift_;
  UpstreamRules rules_;
  mutable std::shared_mutex mutex_;
  mutable std::map<Key, std::shared_ptr<const Known>> known_;
  std::map<Key, Tokens> loaded_;  // windows last requested from Ollama
  struct KeptFormat {
    ServedFormat format;
    std::int64_t at_ms = 0;
  };
  std::map<Key, KeptFormat> formats_;
  WindowSigns signs_;
};

// Owner and options of one request.
struct RequestView {
  std::string owner{};
  std::optional<Tokens> most{};  // upper limit of windows
  bool with_override = true;     // whether LLM_CONTEXT_WINDOW overrides the window
  bool with_learned = true;      // whether plans use what was learned
  // The window that a server reported when it refused this request.
  std::optional<std::pair<ModelLocation, Tokens>> told{};
};

// Implements PlanModels for one request and its deadline.
class RequestModels final : public PlanModels {
 public:
  RequestModels(const UpstreamModels& models, Deadline deadline, RequestView view = {})
      : models_(models), deadline_(deadline), view_(std::move(view)) {}
  Result<PlanModel> open(std::string_view model) const override;
  Result<PlanModel> open_fallback(std::string_view model) const override;
  std::optional<std::string> served_as(std::string_view model) const override;
  std::optional<Tokens> window_of(std::string_view model) const override;
  bool same(std::string_view a, std::string_view b) const override { return models_.same(a, b); }

 private:
  Result<PlanModel> open(std::string_view model, bool with_override) const;

  const UpstreamModels& models_;
  Deadline deadline_;
  RequestView view_;
};

}  // namespace plimsoll::models
