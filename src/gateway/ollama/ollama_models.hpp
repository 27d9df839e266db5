// The models of all upstreams in Ollama's format.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/answer.hpp"
#include "plimsoll/embedder.hpp"

namespace plimsoll::gateway {

// The version reported to clients: some refuse older ones without tools or schemas.
inline constexpr std::string_view ollama_version = "0.17.4";

// Ollama's clients may append ":latest"; returns the name that an upstream knows, or an embedder of this
// program has.
std::string without_latest(const models::Upstreams& upstreams, const std::vector<std::string>& embedders,
                           std::string model);

// GET /api/tags, including every visible index as a virtual model. `embedders`: of this program.
nlohmann::ordered_json ollama_tags(const engine::Engine& engine, const models::Upstreams& upstreams,
                                   const engine::Caller& caller, const std::vector<std::string>& embedders);
// GET /api/ps: recently used models, with their served window.
nlohmann::ordered_json ollama_running(const engine::Engine& engine, const models::Upstreams& upstreams);
// POST /api/show. unknown_model: no upstream has it. May ask a server for the window.
Result<nlohmann::ordered_json> ollama_show(const engine::Engine& engine, const models::Upstreams& upstreams,
                                           std::string_view model, const engine::Caller& caller,
                                           Deadline deadline);

// The same for an embedder of this program.
nlohmann::ordered_json ollama_show(const EmbedderInfo& embedder);

// "2026-01-02T03:04:05.678901Z"
std::string ollama_time(std::chrono::system_clock::time_point time);

}  // namespace plimsoll::gateway
