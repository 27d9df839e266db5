#include "gateway/openai/models_json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/private_words.hpp"
#include "base/text/text.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds window_patience{5};

// Limits for models with an index in a list: newest indexes, and entries in total.
constexpr std::size_t most_indexes = 100, most_with_documents = 1'000;

Json or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

// Returns the model's place in the order of fallback models, from 1; 0: it is none, or fallback is off.
std::size_t fallback_place(const engine::Engine& engine, const models::ModelLocation& location) {
  if (!engine.rules.plan.fallback) return 0;
  const std::vector<std::string>& names = engine.rules.plan.fallback_models;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (engine.models.served_as(names[i]) == location) return i + 1;
  return 0;
}

Json described(const engine::Engine& engine, const models::ModelLocation& location, const std::string& owner,
               const std::string& id, const ReportedModel& served) {
  Json json{{"id", id},
            {"object", "model"},
            {"created", 0},
            {"owned_by", base::for_clients(engine.models.upstreams().members()[location.member].name)}};
  auto model = engine.models.open(location, Deadline::after(window_patience));
  if (model) {
    apply(engine.models.learned(location, owner), *model);
    json["max_model_len"] = model->window.tokens;  // for vLLM's clients
    json["context_window"] = model->window.tokens;
    json["context_window_source"] = name_of(model->window.source);
    json["context_window_confidence"] = name_of(model->window.confidence);
    if (model->window.source == WindowSource::requestable)  // its current window
      json["context_window_served"] = model->window.served_now > 0 ? Json(model->window.served_now) : Json();
    json["tokenizer"] = model->tokenizer.info().name;
    json["exactness"] = name_of(model->exactness);
    if (!model->why.empty()) json["why"] = model->why;
    json["margin"] = budget::margin_for(model->drift);
  }
  if (embeds(location.model, served)) json["kind"] = "embedding";
  if (const std::size_t place = fallback_place(engine, location); place > 0) json["fallback_place"] = place;
  json["parameters"] = or_null(served.parameters);
  json["quantization"] = or_null(served.quantization);
  json["family"] = or_null(served.family);
  return json;
}

}  // namespace

bool embeds(std::string_view model, const ReportedModel& served) {
  const std::string name = base::to_lower_ascii(model);
  return served.family.find("bert") != std::string::npos || name.find("embed") != std::string::npos ||
         name.find("minilm") != std::string::npos || name.find("multilingual-e5") != std::string::npos;
}

Json embedder_json(std::string_view name) {
  return {{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "plimsoll"}, {"kind", "embedding"}};
}

Json anthropic_model_json(Json model) {
  model.erase("object");
  model["type"] = "model";
  model["display_name"] = model["id"];
  model["created_at"] = "1970-01-01T00:00:00Z";
  return model;
}

Json anthropic_models_json(const Json& models) {
  Json data = Json::array();
  for (const Json& one : models["data"]) data.push_back(anthropic_model_json(one));
  const Json first = data.empty() ? Json() : data.front()["id"],
             last = data.empty() ? Json() : data.back()["id"];
  return {{"data", std::move(data)}, {"has_more", false}, {"first_id", first}, {"last_id", last}};
}

ListedIndexes listed_indexes(const engine::Engine& engine, const models::Upstreams& upstreams,
                             const engine::Caller& caller) {
  ListedIndexes listed;
  if (engine.open_indexes == nullptr) return listed;
  if (const auto all = engine.open_indexes->store().indexes(caller.indexes))
    for (const IndexInfo& info : *all) listed.names.push_back(info.name);
  std::size_t models = 0;
  for (const models::UpstreamList& member : *upstreams.models()) models += member.models.size();
  const std::size_t most =
      std::clamp<std::size_t>(most_with_documents / std::max<std::size_t>(1, models), 1, most_indexes);
  if (listed.names.size() <= most) return listed;
  listed.left_out = listed.names.size() - most;
  const auto newest = listed.names.begin() + static_cast<std::ptrdiff_t>(listed.left_out);
  listed.names.erase(listed.names.begin(), newest);
  return listed;
}

Json models_json(const engine::Engine& engine, const models::Upstreams& upstreams,
                 const engine::Caller& caller) {
  const auto [indexes, left_out] = listed_indexes(engine, upstreams, caller);
  const auto models = upstreams.models();
  Json data = Json::array();
  for (std::size_t i = 0; i < models->size(); ++i)
    for (const models::ListedModel& listed : (*models)[i].models) {
      Json plain = described(engine, {i, listed.name}, caller.owner, listed.name, listed.report->served);
      data.push_back(plain);
      if (plain.contains("kind")) continue;
      for (const std::string& index : indexes) {
        Json with_documents = plain;
        with_documents["id"] = listed.name + "+" + index;
        with_documents["index"] = index;
        data.push_back(std::move(with_documents));
      }
    }
  Json list{{"object", "list"}, {"data", std::move(data)}};
  if (left_out > 0) {
    list["indexes_left_out"] = left_out;
    list["note"] = fmt::format(
        "of {} indexes, the newest {} are listed with each model; GET /indexes lists all, and MODEL+INDEX "
        "works "
        "with each",
        left_out + indexes.size(), indexes.size());
  }
  return list;
}

Json model_json(const engine::Engine& engine, const models::Upstreams& upstreams,
                const engine::Caller& caller, std::string_view name) {
  const std::size_t plus = upstreams.plus_in(name);
  if (plus != std::string_view::npos && engine.open_indexes != nullptr &&
      engine.open_indexes->has(caller.indexes, name.substr(plus + 1))) {
    Json json = model_json(engine, upstreams, caller, name.substr(0, plus));
    if (json.is_null()) return json;
    json["id"] = name;
    json["index"] = name.substr(plus + 1);
    return json;
  }
  const auto location = upstreams.find(name);
  if (!location) return nullptr;
  const auto models = upstreams.models();
  for (const models::ListedModel& listed : (*models)[location->member].models)
    if (listed.name == location->model)
      return described(engine, *location, caller.owner, std::string(name), listed.report->served);
  return upstreams.has(name) ? described(engine, *location, caller.owner, std::string(name), {}) : Json();
}

}  // namespace plimsoll::gateway
