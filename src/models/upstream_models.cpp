#include "models/upstream_models.hpp"

#include <algorithm>
#include <bit>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "window/names.hpp"
#include "window/providers.hpp"

namespace plimsoll::models {
namespace {

constexpr std::size_t most_models = 10'000;  // names come from clients

// Returns the name without provider, tag, date and similar parts.
std::string bare_key(std::string_view model) {
  const auto spellings = window::barer_and_barer(window::without_provider(model));
  return spellings.empty() ? std::string() : window::key_of(spellings.back());
}

}  // namespace

Tokens ollama_reach(Tokens served, Tokens maximum, std::optional<Tokens> limit) {
  constexpr Tokens fits_a_laptop = 16'384;
  const Tokens most = limit.value_or(std::max(served, fits_a_laptop));
  return maximum > 0 ? std::min(most, maximum) : most;
}

Tokens ollama_num_ctx(Tokens needed, Tokens loaded, Tokens reach) {
  constexpr Tokens least = 2'048;
  if (needed <= loaded && loaded <= reach) return loaded;
  const auto step = static_cast<Tokens>(std::bit_ceil(static_cast<std::uint64_t>(std::max(needed, least))));
  return std::min(step, reach);
}

UpstreamModels::UpstreamModels(const Upstreams& upstreams, WindowFinder& finder,
                               const ModelCatalogue& catalogue, const TokenizerLibrary& tokenizers,
                               const ledger::DriftBook& drift, const UpstreamRules& rules)
    : upstreams_(upstreams),
      finder_(finder),
      catalogue_(catalogue),
      catalogue_models_(catalogue, tokenizers, rules.default_window),
      drift_(drift),
      rules_(rules) {}

bool UpstreamModels::is_known(const ModelLocation& location) const {
  if (upstreams_.is_embedded(location.member)) {
    const LocalModel* const model = upstreams_.members()[location.member].embedded_model(location.model);
    return model == nullptr || model->is_open();
  }
  const Upstream& server = upstreams_.members()[location.member].server;
  return finder_.cache().find(server.cache_key, location.model) != nullptr;
}

bool UpstreamModels::asks_server(const ModelLocation& location) const {
  return !upstreams_.is_embedded(location.member) && !finder_.is_configured(location.model) &&
         !is_known(location);
}

Result<PlanModel> UpstreamModels::make(const ModelLocation& location, const ModelReport& report) const {
  TRY(PlanModel model, catalogue_models_.open(location.model));
  model.window = report.window;
  // A limit of another provider for the same model does not apply to this server.
  const Upstream& server = upstreams_.members()[location.member].server;
  const auto match = catalogue_.find(location.model);
  const bool own_figure = match && match->kind != MatchKind::partial &&
                          window::provider_of(*match->card) == window::provider_at(server.root);
  model.any_server = window::provider_at(server.root) == "?";
  model.prices = window::prices_at(catalogue_, location.model, server.root);
  if (report.served.max_output > 0)
    model.max_output = report.served.max_output;
  else if (own_figure)
    model.max_output = match->card->max_output;
  const bool ours_to_choose = upstreams_.kind_of(location.member) == ServerKind::ollama &&
                              report.window.source != WindowSource::configured;
  if (ours_to_choose) {
    const Tokens reach = ollama_reach(report.window.tokens, report.served.maximum, rules_.ollama_num_ctx_max);
    model.window.tried.push_back(
        {"num_ctx", fmt::format("up to {} is asked for as needed", base::with_thousands(reach))});
    model.window.tokens = reach;
    model.window.served_now = report.window.source == WindowSource::served ? report.window.tokens : 0;
    // A window that is already served need not be requested.
    if (reach != model.window.served_now) {
      model.window.source = WindowSource::requestable;
      model.window.confidence = report.served.maximum > 0 ? Confidence::medium : Confidence::low;
    }
  }
  const std::shared_lock lock(mutex_);
  const auto format = formats_.find(key_of(location));
  if (format != formats_.end() && !format->second.format.name.empty())
    model.chat.chat_template = format->second.format.name;
  return model;
}

std::optional<ModelLocation> UpstreamModels::served_as(std::string_view model) const {
  if (model.empty()) return std::nullopt;
  if (const auto exact = upstreams_.listed_exactly(model)) return exact;
  const std::string key = bare_key(model);
  const auto card_of = [&](std::string_view name) -> const ModelCard* {
    const auto match = catalogue_.find(name);
    return match ? match->card : nullptr;
  };
  const ModelCard* card = card_of(model);
  std::optional<ModelLocation> same_card;
  const auto models = upstreams_.models();
  for (std::size_t i = 0; i < models->size(); ++i)
    for (const ListedModel& listed : (*models)[i].models) {
      if (bare_key(listed.name) == key) return ModelLocation{i, listed.name};
      if (!same_card && card != nullptr && card_of(listed.name) == card)
        same_card = ModelLocation{i, listed.name};
    }
  return same_card;
}

std::optional<Tokens> UpstreamModels::listed_window(const ModelLocation& location) const {
  const auto models = upstreams_.models();
  const UpstreamList& member = (*models)[location.member];
  const auto is_it = [&](const ListedModel& one) {
    return one.name == location.model || one.name == location.model + ":latest";  // as Ollama completes it
  };
  const auto listed = std::ranges::find_if(member.models, is_it);
  if (listed == member.models.end()) return std::nullopt;
  const ModelReport& report = *listed->report;
  if (member.kind != ServerKind::ollama || report.window.source == WindowSource::configured)
    return report.window.tokens;
  return ollama_reach(report.window.tokens, report.served.maximum, rules_.ollama_num_ctx_max);
}

void UpstreamModels::heard_from(const ModelLocation& location) const {
  if (upstreams_.is_embedded(location.member)) return;
  finder_.cache().forget_silence(upstreams_.members()[location.member].server.cache_key, location.model);
}

bool UpstreamModels::doubt_window(const ModelLocation& location) const {
  constexpr std::chrono::seconds asked_lately{30};
  const std::string& server = upstreams_.members()[location.member].server.cache_key;
  return finder_.cache().forget_if_older(server, location.model, asked_lately);
}

Result<PlanModel> UpstreamModels::open(const ModelLocation& location, Deadline deadline,
                                       bool with_override) const {
  if (upstreams_.is_embedded(location.member)) {
    const LocalModel* const model = upstreams_.members()[location.member].embedded_model(location.model);
    if (model == nullptr)
      return fail(Errc::unknown_model, "no embedded model is called '{}'", location.model);
    TRY(const auto opened, model->plan_model());
    return *opened;
  }
  const Upstream& server = upstreams_.members()[location.member].server;
  const WindowCache::Found found = finder_.find(location.model, &server, deadline, with_override);
  std::shared_ptr<const Known> known = this->known(location);
  if (!known || known->found != found) {
    TRY(PlanModel made, make(location, *found));
    known = std::make_shared<const Known>(Known{found, std::move(made)});
    const std::lock_guard lock(mutex_);
    if (known_.size() >= most_models) known_.clear();
    known_.insert_or_assign(key_of(location), known);
  }
  return known->model;
}

std::optional<Prices> UpstreamModels::prices_of(const ModelLocation& location) const {
  if (upstreams_.is_embedded(location.member)) return std::nullopt;
  if (const auto known = this->known(location)) return known->model.prices;
  return window::prices_at(catalogue_, location.model, upstreams_.members()[location.member].server.root);
}

std::shared_ptr<const UpstreamModels::Known> UpstreamModels::known(const ModelLocation& location) const {
  const std::shared_lock lock(mutex_);
  const auto place = known_.find(key_of(location));
  return place == known_.end() ? nullptr : place->second;
}

DriftKey UpstreamModels::drift_key(const ModelLocation& location, const std::string& owner) const {
  constexpr std::size_t longest_name = 40;  // it may be a whole template
  const std::shared_ptr<const Known> known = this->known(location);
  return {upstreams_.members()[location.member].name, location.model,
          known ? known->model.chat.chat_template.substr(0, longest_name) : std::string(), owner};
}

LearnedModel UpstreamModels::learned(const ModelLocation& location, const std::string& owner) const {
  if (upstreams_.is_embedded(location.member)) return {{.embedded = true}, std::nullopt};
  const std::int64_t now = now_ms();
  return {drift_.of(drift_key(location, owner), now), signs_.window_for(location, owner, now)};
}

void apply(const LearnedModel& learned, PlanModel& model) {
  constexpr Tokens most_share = 8;  // of the window: one wrong report must not take more from plans
  Window& window = model.window;
  if (learned.window && *learned.window < window.tokens && window.source != WindowSource::configured) {
    window.tried.push_back({"overflow error", "window " + base::with_thousands(*learned.window)});
    window.tokens = *learned.window;
    window.served_now = std::min(window.served_now, window.tokens);
    window.source = WindowSource::served;
    window.confidence = Confidence::medium;
  }
  model.drift = learned.drift;
  model.drift.worst = std::min(learned.drift.worst, window.tokens / most_share);
}

void UpstreamModels::learn_format(const ModelLocation& location, ServedFormat format) {
  const std::lock_guard lock(mutex_);
  if (formats_.size() >= most_models) formats_.clear();
  const auto known = known_.find(key_of(location));
  const bool other =
      known != known_.end() && !format.name.empty() && known->second->model.chat.chat_template != format.name;
  if (other) known_.erase(known);
  formats_.insert_or_assign(key_of(location), KeptFormat{std::move(format), rules_.now_ms()});
}

void UpstreamModels::forget_formats(std::string_view model) {
  const std::lock_guard lock(mutex_);
  std::erase_if(formats_, [&](const auto& one) { return model.empty() || one.first.second == model; });
}

std::optional<ServedFormat> UpstreamModels::format_of(const ModelLocation& location) const {
  const std::shared_lock lock(mutex_);
  constexpr std::int64_t without_one_ms = 600'000;
  const auto found = formats_.find(key_of(location));
  if (found == formats_.end()) return std::nullopt;
  const auto& [format, at_ms] = found->second;
  if (!format.chats && rules_.now_ms() - at_ms > without_one_ms) return std::nullopt;
  return format;
}

// At least the window that plans use, even if a setting determines it.
UpstreamModels::Reach UpstreamModels::reach_of(const ModelLocation& location) const {
  if (const auto known = this->known(location))
    return {known->found->window.tokens, known->model.window.tokens};
  const Upstream& server = upstreams_.members()[location.member].server;
  const auto found = finder_.cache().find(server.cache_key, location.model);
  if (!found) return {0, ollama_reach(0, 0, rules_.ollama_num_ctx_max)};
  return {found->window.tokens,
          ollama_reach(found->window.tokens, found->served.maximum, rules_.ollama_num_ctx_max)};
}

Tokens UpstreamModels::unasked_window(const ModelLocation& location, Tokens planned) const {
  if (upstreams_.kind_of(location.member) != ServerKind::ollama) return planned;
  const Tokens served = reach_of(location).served;
  return served > 0 ? std::min(planned, served) : planned;
}

std::optional<Tokens> UpstreamModels::window_to_load(const ModelLocation& location, Tokens needed) {
  if (upstreams_.kind_of(location.member) != ServerKind::ollama) return std::nullopt;
  const Reach reach = reach_of(location);
  const std::lock_guard lock(mutex_);
  if (loaded_.size() >= most_models) loaded_.clear();
  const auto place = loaded_.try_emplace(key_of(location), std::min(reach.served, reach.most)).first;
  // At least what the plan needs: the server can provide that window.
  place->second = ollama_num_ctx(needed, place->second, std::max(reach.most, needed));
  return place->second;
}

bool UpstreamModels::raise_window(const ModelLocation& location) {
  if (upstreams_.kind_of(location.member) != ServerKind::ollama) return false;
  const Reach reach = reach_of(location);
  const std::lock_guard lock(mutex_);
  Tokens& loaded = loaded_[key_of(location)];
  if (loaded >= reach.most) return false;
  loaded = std::min(2 * loaded, reach.most);
  return true;
}

Result<PlanModel> RequestModels::open(std::string_view model) const {
  return open(model, view_.with_override);
}

Result<PlanModel> RequestModels::open_fallback(std::string_view model) const {
  return open(model, /*with_override=*/false);
}

std::optional<std::string> RequestModels::served_as(std::string_view model) const {
  const auto location = models_.served_as(model);
  if (!location) return std::nullopt;
  // Adds the server's name as prefix if an earlier server lists the same model name.
  const auto plain = models_.upstreams().find(location->model);
  if (plain && plain->member == location->member) return location->model;
  return models_.upstreams().members()[location->member].name + "/" + location->model;
}

Result<PlanModel> RequestModels::open(std::string_view model, bool with_override) const {
  TRY(const ModelLocation location, models_.upstreams().find(model));
  TRY(PlanModel opened, models_.open(location, deadline_, with_override));
  if (view_.most && *view_.most < opened.window.tokens) {
    opened.window.tried.push_back({"the request's window", base::with_thousands(*view_.most) + " tokens"});
    opened.window.tokens = *view_.most;
    opened.window.source = WindowSource::configured;
  }
  LearnedModel learned = models_.learned(location, view_.owner);
  if (!view_.with_learned) learned = {{.embedded = learned.drift.embedded}, std::nullopt};
  if (view_.told && view_.told->first == location) learned.window = view_.told->second;
  apply(learned, opened);
  return opened;
}

std::optional<Tokens> RequestModels::window_of(std::string_view model) const {
  const auto opened = open_fallback(model);
  if (!opened || opened->window.source == WindowSource::assumed) return std::nullopt;
  return opened->window.tokens;
}

}  // namespace plimsoll::models
