// The engine's report on an answer, as fields of a reply.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "engine/report.hpp"

namespace plimsoll::gateway {

// Returns RAGEngine's list of the passages in the prompt, nearest first; null: there are none (K4).
nlohmann::ordered_json source_nodes(const engine::AnswerReport& report);
// Returns the value of `plimsoll`.
nlohmann::ordered_json report_json(const engine::AnswerReport& report);
// Returns `"source_nodes": ..., "plimsoll": {...}`, without braces around them.
std::string report_fields(const engine::AnswerReport& report);

}  // namespace plimsoll::gateway
