// The models of all upstreams, as GET /v1/models lists them (D5), with the newest indexes that the
// caller sees as virtual models.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/answer.hpp"

namespace plimsoll::gateway {

// The embedder of this program, by the name that /v1/embeddings takes.
inline constexpr std::string_view own_embedder = "all-minilm-l6-v2";
nlohmann::ordered_json embedder_json();
// The same list as Anthropic's clients read it.
nlohmann::ordered_json anthropic_models_json(const nlohmann::ordered_json& models);

nlohmann::ordered_json models_json(const engine::Engine& engine, const models::Upstreams& upstreams,
                                   const engine::Caller& caller);
// One of them, whether an upstream lists it or not; null where none would take it.
nlohmann::ordered_json model_json(const engine::Engine& engine, const models::Upstreams& upstreams,
                                  const engine::Caller& caller, std::string_view name);

// The indexes that a list of models names with each model: the newest, so many that the list stays short.
struct ListedIndexes {
  std::vector<std::string> names;
  std::size_t left_out = 0;
};
ListedIndexes listed_indexes(const engine::Engine& engine, const models::Upstreams& upstreams,
                             const engine::Caller& caller);

}  // namespace plimsoll::gateway
