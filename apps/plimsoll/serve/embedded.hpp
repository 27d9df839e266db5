// The model inside this process: its file, what a plan needs to know of it, and what runs it.
#pragma once

#include <memory>

#include "adapters/llama/embedded_model.hpp"
#include "base/settings/settings.hpp"
#include "models/upstreams.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {

// What it is called where upstreams are named.
inline constexpr std::string_view embedded_upstream = "embedded";

// not_found: its file is not there, and what brings it.
Result<models::ConfiguredUpstream> embedded_member(const base::Settings& settings,
                                                   const TokenizerLibrary& tokenizers);

// Runs the model of that member; nothing is loaded before it is asked.
std::unique_ptr<llama::EmbeddedModel> run_embedded(const base::Settings& settings, const PlanModel& model);

}  // namespace plimsoll
