// The embedded model: its file, its properties for planning, and its runtime.
#pragma once

#include <memory>

#include "adapters/llama/embedded_model.hpp"
#include "base/settings/settings.hpp"
#include "models/upstreams.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {

// Its name in lists of upstreams.
inline constexpr std::string_view embedded_upstream = "embedded";

// Fails with not_found if its file is missing; the error says how to download it.
Result<models::ConfiguredUpstream> embedded_member(const base::Settings& settings,
                                                   const TokenizerLibrary& tokenizers);

// Returns whether the embedded model has less than a billion parameters. Such a model makes things up, even
// with the right passages before it. If the file does not say how many it has: whether it is smaller than 700
// MB.
bool is_small_embedded(const base::Settings& settings);

// Creates the runtime; the model is loaded at the first request.
std::unique_ptr<llama::EmbeddedModel> run_embedded(const base::Settings& settings, const PlanModel& model);

}  // namespace plimsoll
