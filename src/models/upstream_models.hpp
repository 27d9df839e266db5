// What a plan needs to know of a model, where the gateway's servers really serve it.
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

// What replies have taught of a model, for one owner's requests.
struct LearnedModel {
  budget::Drift drift{};
  std::optional<Tokens> window{};

  // Whether a plan has less room by it than without.
  bool holds_back() const { return window || budget::margin_for(drift) > budget::margin_for({}); }
};
// The model with what was learned: a margin of no more than an eighth of its window, and a window that a
// setting does not decide.
void apply(const LearnedModel& learned, PlanModel& model);

// Which of our chat formats renders as a server does.
struct ServedFormat {
  std::string name{};  // for ChatOptions::chat_template; empty: the one that the catalogue has
  bool chats = false;  // chats come out the same, letter by letter
  bool tools = false;  // and so do chats with tools
};

// The largest window that an Ollama may be asked for (U2): never above what the model can, and not above the
// user's limit, which is what is served but at least 16,384 where the user set none.
Tokens ollama_reach(Tokens served, Tokens maximum, std::optional<Tokens> limit);
// In steps, so that a conversation that grows does not reload the model each turn. `loaded`: what it runs
// with now; that stays where it is enough.
Tokens ollama_num_ctx(Tokens needed, Tokens loaded, Tokens reach);

// Any thread may call anything at any time; what it is made of outlives it.
class UpstreamModels {
 public:
  UpstreamModels(const Upstreams& upstreams, WindowFinder& finder, const ModelCatalogue& catalogue,
                 const TokenizerLibrary& tokenizers, const ledger::DriftBook& drift, UpstreamRules rules);

  // Whether the window of this model is known without asking anybody.
  bool is_known(const ModelLocation& location) const;
  // As its server describes it, without what replies have taught. `with_override`: whether LLM_CONTEXT_WINDOW
  // decides, see WindowFinder.
  Result<PlanModel> open(const ModelLocation& location, Deadline deadline, bool with_override = true) const;
  // The model that a server lists under this name: by exactly that name, else by the same name without
  // provider, tag and the like, else the same model of the catalogue (D3). None: no server lists it. A model
  // behind the name of a server that gave no list is taken to be there.
  std::optional<ModelLocation> served_as(std::string_view model) const;
  // Its window as the server listed it, or can be asked to make it; nobody is asked. None: no server lists
  // it.
  std::optional<Tokens> listed_window(const ModelLocation& location) const;
  // The server has answered a request: if its window is not known yet, it is asked for at the next one.
  void heard_from(const ModelLocation& location) const;
  bool same(std::string_view a, std::string_view b) const { return catalogue_models_.same(a, b); }
  const Upstreams& upstreams() const { return upstreams_; }

  LearnedModel learned(const ModelLocation& location, const std::string& owner) const;
  // What drift is learned by: server, model, the format that it is counted in, and whose request it was.
  DriftKey drift_key(const ModelLocation& location, const std::string& owner) const;
  std::int64_t now_ms() const { return rules_.now_ms(); }
  // What servers say of their windows in errors.
  WindowSigns& window_signs() { return signs_; }
  const WindowSigns& window_signs() const { return signs_; }
  // How this model's server renders chats, compared with ours (U2).
  void learn_format(const ModelLocation& location, ServedFormat format);
  // None: nobody has looked yet.
  std::optional<ServedFormat> format_of(const ModelLocation& location) const;

  // Of the window that chats are planned for: what requests have that cannot ask for one.
  Tokens unasked_window(const ModelLocation& location, Tokens planned) const;
  // The window to load an Ollama model with for a plan that needs so much. None: the server does not let us
  // choose.
  std::optional<Tokens> num_ctx_for(const ModelLocation& location, Tokens needed);
  // After a cut: the next request asks for a larger window. False: there is none to ask for.
  bool raise_window(const ModelLocation& location);

 private:
  struct Known {
    WindowCache::Found found;  // that the rest was made from
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
  std::map<Key, Tokens> loaded_;  // what an Ollama was last asked for
  std::map<Key, ServedFormat> formats_;
  WindowSigns signs_;
};

// Whose request it is, and what it wishes.
struct RequestView {
  std::string owner{};
  std::optional<Tokens> most{};  // windows are taken to be no larger
  bool with_override = true;     // whether LLM_CONTEXT_WINDOW decides the window of a model that is opened
  bool with_learned = true;      // whether plans follow what replies have taught
  // The window that a server named when it refused this very request.
  std::optional<std::pair<ModelLocation, Tokens>> told{};
};

// The same as PlanModels, for one request and its patience.
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
