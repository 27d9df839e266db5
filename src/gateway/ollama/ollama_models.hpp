// The models of all upstreams, as Ollama's clients ask for them.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/answer.hpp"

namespace plimsoll::gateway {

// What Ollama's clients are told of its version: some refuse older ones for want of tools or schemas.
inline constexpr std::string_view ollama_version = "0.17.4";

// Ollama's clients may write ":latest" behind any name; the name that an upstream knows.
std::string without_latest(const models::Upstreams& upstreams, std::string model);

// GET /api/tags, every index that the caller sees as a virtual model too.
nlohmann::ordered_json ollama_tags(const engine::Engine& engine, const models::Upstreams& upstreams,
                                   const engine::Caller& caller);
// GET /api/ps: those that were asked for, with the window that is served.
nlohmann::ordered_json ollama_running(const engine::Engine& engine, const models::Upstreams& upstreams);
// POST /api/show. unknown_model where no upstream has it. May ask a server for the window.
Result<nlohmann::ordered_json> ollama_show(const engine::Engine& engine, const models::Upstreams& upstreams,
                                           std::string_view model, const engine::Caller& caller,
                                           Deadline deadline);

// "2026-01-02T03:04:05.678901Z"
std::string ollama_time(std::chrono::system_clock::time_point time);

}  // namespace plimsoll::gateway
