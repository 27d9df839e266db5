// The models of all upstreams, as GET /v1/models lists them (D5), with the newest indexes that the
// caller sees as virtual models.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/answer.hpp"

namespace plimsoll::gateway {

// Returns whether a model makes vectors, by its family or its name. Such a model answers no chat.
bool embeds(std::string_view model, const ReportedModel& served);
// An embedder of this program.
nlohmann::ordered_json embedder_json(std::string_view name);
// Converts a model, and the list, to Anthropic's format.
nlohmann::ordered_json anthropic_model_json(nlohmann::ordered_json model);
nlohmann::ordered_json anthropic_models_json(const nlohmann::ordered_json& models);

nlohmann::ordered_json models_json(const engine::Engine& engine, const models::Upstreams& upstreams,
                                   const engine::Caller& caller);
// Returns one model, listed or not; null: no upstream accepts it.
nlohmann::ordered_json model_json(const engine::Engine& engine, const models::Upstreams& upstreams,
                                  const engine::Caller& caller, std::string_view name);

// The indexes in a list of models: the newest, limited in number.
struct ListedIndexes {
  std::vector<std::string> names;
  std::size_t left_out = 0;
};
ListedIndexes listed_indexes(const engine::Engine& engine, const models::Upstreams& upstreams,
                             const engine::Caller& caller);

}  // namespace plimsoll::gateway
