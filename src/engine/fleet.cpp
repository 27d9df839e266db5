#include "engine/fleet.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"

namespace plimsoll::engine {
namespace {

ServerKind first_guess(const Upstream& server) {
  const KindHint hint = hint_of(server.root);
  if (server.kind) return *server.kind;
  return hint.certain.value_or(hint.likely.value_or(ServerKind::openai));
}

bool lists(const MemberModels& member, std::string_view model) {
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(member.models, [&](const ListedModel& listed) { return listed.name == name; });
  };
  return named(model) || (member.kind == ServerKind::ollama && model.find(':') == std::string_view::npos &&
                          named(std::string(model) + ":latest"));
}

MemberModels embedded_models(const PlanModel& model) {
  auto report = std::make_shared<ModelReport>();
  report->kind = ServerKind::llama_cpp;  // which it is, but for the wire between
  report->window = model.window;
  MemberModels models;
  models.asked = true;
  models.kind = ServerKind::llama_cpp;
  models.models.push_back({model.name, std::move(report)});
  return models;
}

}  // namespace

Fleet::Fleet(std::vector<FleetMember> members, WindowFinder& finder)
    : members_(std::move(members)), finder_(finder) {
  Models models(members_.size());
  for (std::size_t i = 0; i < models.size(); ++i)
    if (members_[i].embedded)
      models[i] = embedded_models(*members_[i].embedded);
    else
      models[i].kind = first_guess(members_[i].server);
  models_ = std::make_shared<const Models>(std::move(models));
}

std::shared_ptr<const Fleet::Models> Fleet::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

void Fleet::refresh(Deadline deadline) {
  refresh_where([](const MemberModels&) { return true; }, deadline);
}

void Fleet::refresh_silent(Deadline deadline) {
  refresh_where([](const MemberModels& member) { return !member.problem.empty(); }, deadline);
}

void Fleet::refresh_where(const std::function<bool(const MemberModels&)>& wanted, Deadline deadline) {
  const std::shared_ptr<const Models> before = models();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    MemberModels member = (*before)[i];
    if (members_[i].embedded || !wanted(member)) continue;
    member.asked = true;
    auto listed = finder_.list(members_[i].server, deadline);
    if (!listed) {
      if (member.problem.empty())  // once, however often it is asked
        log::warning("no models from upstream",
                     {{"upstream", members_[i].name}, {"why", listed.error().what}});
      member.problem = listed.error().what;
      keep(i, std::move(member));
      continue;
    }
    if (!member.problem.empty())
      log::info("upstream answers",
                {{"upstream", members_[i].name}, {"models", static_cast<std::int64_t>(listed->size())}});
    member.problem.clear();
    member.models = *std::move(listed);
    if (const auto kind = finder_.known_kind(members_[i].server)) member.kind = *kind;
    keep(i, std::move(member));
  }
}

// Of this server alone: another thread may be asking the others.
void Fleet::keep(std::size_t server, MemberModels member) {
  const std::lock_guard lock(mutex_);
  Models now = *models_;
  now[server] = std::move(member);
  models_ = std::make_shared<const Models>(std::move(now));
}

std::optional<Berth> Fleet::listed(std::string_view model, const Models& models) const {
  if (const std::size_t slash = model.find('/'); slash != std::string_view::npos)
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (members_[i].name == model.substr(0, slash)) return Berth{i, std::string(model.substr(slash + 1))};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const MemberModels& member = models[i];
    if (model.empty() && !member.models.empty()) return Berth{i, member.models.front().name};
    if (!model.empty() && lists(member, model)) return Berth{i, std::string(model)};
  }
  return std::nullopt;
}

std::optional<Berth> Fleet::listed_exactly(std::string_view model) const {
  const std::shared_ptr<const Models> models = this->models();
  auto berth = model.empty() ? std::nullopt : listed(model, *models);
  if (!berth) return std::nullopt;
  const MemberModels& member = (*models)[berth->member];
  return member.models.empty() || lists(member, berth->model) ? berth : std::nullopt;
}

bool Fleet::has(std::string_view model) const {
  return !model.empty() && listed(model, *models()).has_value();
}

std::size_t Fleet::plus_in(std::string_view model) const {
  const std::size_t last = model.rfind('+');
  if (last == std::string_view::npos || has(model)) return std::string_view::npos;
  for (std::size_t at = last; at != std::string_view::npos && at > 0; at = model.rfind('+', at - 1))
    if (has(model.substr(0, at))) return at;
  return last;
}

Result<Berth> Fleet::find(std::string_view model) const {
  const std::shared_ptr<const Models> models = this->models();
  constexpr std::size_t longest_name = 512;  // names are kept by whoever remembers windows
  if (model.size() > longest_name)
    return fail(Errc::bad_input, "the name of the model has {} bytes; the longest may have {}", model.size(),
                longest_name);
  if (members_.empty())
    return fail(
        Errc::unreachable,
        "InferenceService not configured. No upstream is known: start with `plimsoll serve --upstream "
        "URL`, or set llm_inference_url");
  if (auto berth = listed(model, *models)) return *std::move(berth);
  return unknown(model, *models);
}

// A server may serve more than it lists, or could not be asked: where only one comes into question, it
// decides.
Result<Berth> Fleet::unknown(std::string_view model, const Models& models) const {
  std::vector<std::size_t> silent;
  for (std::size_t i = 0; i < models.size(); ++i)
    if (models[i].models.empty()) silent.push_back(i);
  if (members_.size() == 1 && !members_.front().embedded) return Berth{0, std::string(model)};
  if (silent.size() == 1) return Berth{silent.front(), std::string(model)};
  std::vector<std::string_view> known;
  for (const MemberModels& member : models)
    for (const ListedModel& listed : member.models) known.push_back(listed.name);
  const auto near = base::nearest(model, known);
  return fail(Errc::unknown_model, "no upstream has a model '{}'; {}", model,
              near ? fmt::format("did you mean '{}'?", *near) : "GET /v1/models lists all of them");
}

}  // namespace plimsoll::engine
