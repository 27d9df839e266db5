#include "models/upstreams.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "base/log.hpp"
#include "base/text/text.hpp"

namespace plimsoll::models {
namespace {

ServerKind first_guess(const Upstream& server) {
  const KindHint hint = hint_of(server.root);
  if (server.kind) return *server.kind;
  return hint.certain.value_or(hint.likely.value_or(ServerKind::openai));
}

bool lists(const UpstreamList& member, std::string_view model) {
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(member.models, [&](const ListedModel& listed) { return listed.name == name; });
  };
  return named(model) || (member.kind == ServerKind::ollama && model.find(':') == std::string_view::npos &&
                          named(std::string(model) + ":latest"));
}

UpstreamList embedded_models(const ConfiguredUpstream& member) {
  UpstreamList models;
  models.asked = true;
  models.kind = ServerKind::llama_cpp;  // the same engine, without HTTP
  for (const auto& model : member.embedded) {
    auto report = std::make_shared<ModelReport>();
    report->kind = ServerKind::llama_cpp;
    report->window = model->window();
    models.models.push_back({model->name(), std::move(report)});
  }
  return models;
}

}  // namespace

const LocalModel* ConfiguredUpstream::embedded_model(std::string_view model) const {
  const auto found = std::ranges::find_if(embedded, [&](const auto& one) { return one->name() == model; });
  return found == embedded.end() ? nullptr : found->get();
}

Upstreams::Upstreams(std::vector<ConfiguredUpstream> members, WindowFinder& finder)
    : members_(std::move(members)), finder_(finder) {
  Models models(members_.size());
  for (std::size_t i = 0; i < models.size(); ++i)
    if (is_embedded(i))
      models[i] = embedded_models(members_[i]);
    else
      models[i].kind = first_guess(members_[i].server);
  models_ = std::make_shared<const Models>(std::move(models));
}

std::shared_ptr<const Upstreams::Models> Upstreams::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

void Upstreams::refresh(Deadline deadline) {
  refresh_where([](const UpstreamList&) { return true; }, deadline);
}

void Upstreams::refresh_silent(Deadline deadline) {
  refresh_where([](const UpstreamList& member) { return !member.problem.empty(); }, deadline);
}

void Upstreams::refresh_where(const std::function<bool(const UpstreamList&)>& wanted, Deadline deadline) {
  const std::shared_ptr<const Models> before = models();
  std::vector<std::jthread> threads;  // a server that hangs delays no other one
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!is_embedded(i) && wanted((*before)[i])) {
      const auto asking = [this, i, &before, deadline] { ask(i, (*before)[i], deadline); };
      try {
        threads.emplace_back(asking);
      } catch (const std::system_error&) {  // too many threads
        asking();
      }
    }
}

void Upstreams::ask(std::size_t server, UpstreamList member, Deadline deadline) {
  const ConfiguredUpstream& upstream = members_[server];
  member.asked = true;
  auto listed = finder_.list(upstream.server, deadline);
  // Known also where the list was refused, as for want of a valid key.
  if (const auto kind = finder_.known_kind(upstream.server)) member.kind = *kind;
  if (!listed) {
    if (member.problem.empty())  // log only once
      log::warning("no models from upstream", {{"upstream", upstream.name}, {"why", listed.error().what}});
    member.problem = listed.error().what;
  } else {
    if (!member.problem.empty())
      log::info("upstream answers",
                {{"upstream", upstream.name}, {"models", static_cast<std::int64_t>(listed->size())}});
    member.problem.clear();
    member.models = *std::move(listed);
  }
  keep(server, std::move(member));
}

void Upstreams::copy_lists(const Upstreams& from) {
  const std::shared_ptr<const Models> lists = from.models();
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (std::size_t j = 0; j < from.members_.size(); ++j) {
      const Upstream &own = members_[i].server, &other = from.members_[j].server;
      if (!is_embedded(i) && !from.is_embedded(j) && own.root == other.root &&
          own.cache_key == other.cache_key && own.key.reveal() == other.key.reveal())
        keep(i, (*lists)[j]);
    }
}

// Updates only this server: another thread may be asking the others.
void Upstreams::keep(std::size_t server, UpstreamList member) {
  const std::lock_guard lock(mutex_);
  Models now = *models_;
  now[server] = std::move(member);
  models_ = std::make_shared<const Models>(std::move(now));
}

std::optional<ModelLocation> Upstreams::listed(std::string_view model, const Models& models) const {
  if (const std::size_t slash = model.find('/'); slash != std::string_view::npos)
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (members_[i].name == model.substr(0, slash))
        return ModelLocation{i, std::string(model.substr(slash + 1))};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const UpstreamList& member = models[i];
    if (model.empty() && !member.models.empty()) return ModelLocation{i, member.models.front().name};
    if (!model.empty() && lists(member, model)) return ModelLocation{i, std::string(model)};
  }
  return std::nullopt;
}

std::optional<ModelLocation> Upstreams::listed_exactly(std::string_view model) const {
  const std::shared_ptr<const Models> models = this->models();
  auto location = model.empty() ? std::nullopt : listed(model, *models);
  if (!location) return std::nullopt;
  const UpstreamList& member = (*models)[location->member];
  return member.models.empty() || lists(member, location->model) ? location : std::nullopt;
}

bool Upstreams::has(std::string_view model) const {
  return !model.empty() && listed(model, *models()).has_value();
}

std::size_t Upstreams::plus_in(std::string_view model) const {
  const std::size_t last = model.rfind('+');
  if (last == std::string_view::npos || has(model)) return std::string_view::npos;
  for (std::size_t at = last; at != std::string_view::npos && at > 0; at = model.rfind('+', at - 1))
    if (has(model.substr(0, at))) return at;
  return last;
}

Result<ModelLocation> Upstreams::find(std::string_view model) const {
  const std::shared_ptr<const Models> models = this->models();
  constexpr std::size_t longest_name = 512;  // names are stored with windows
  if (model.size() > longest_name)
    return fail(Errc::bad_input, "the model name has {} bytes; at most {} are allowed", model.size(),
                longest_name);
  if (members_.empty())
    return fail(
        Errc::unreachable,
        "InferenceService not configured. No upstream is known: start with `plimsoll serve --upstream "
        "URL`, or set llm_inference_url");
  if (auto location = listed(model, *models)) return *std::move(location);
  return unknown(model, *models);
}

// A server may have more models than it lists, or may not have answered: if only one server is possible, the
// request goes there.
Result<ModelLocation> Upstreams::unknown(std::string_view model, const Models& models) const {
  std::vector<std::size_t> silent;
  for (std::size_t i = 0; i < models.size(); ++i)
    if (models[i].models.empty()) silent.push_back(i);
  if (members_.size() == 1 && !is_embedded(0)) return ModelLocation{0, std::string(model)};
  if (silent.size() == 1) return ModelLocation{silent.front(), std::string(model)};
  return tl::unexpected(not_listed(model, models));
}

Error Upstreams::not_listed(std::string_view model, const Models& models) {
  std::vector<std::string_view> known;
  for (const UpstreamList& member : models)
    for (const ListedModel& listed : member.models) known.push_back(listed.name);
  const auto near = base::nearest(model, known);
  return {Errc::unknown_model,
          fmt::format("no upstream has the model '{}'; {}", model,
                      near ? fmt::format("did you mean '{}'?", *near) : "GET /v1/models lists all models")};
}

}  // namespace plimsoll::models
