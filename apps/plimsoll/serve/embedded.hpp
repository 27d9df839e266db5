// The embedded models: their files, their properties for planning, and their runtimes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "adapters/llama/embedded_model.hpp"
#include "config/settings.hpp"
#include "models/upstreams.hpp"

namespace plimsoll {

// Its name in lists of upstreams.
inline constexpr std::string_view embedded_upstream = "embedded";

// Returns the upstream with the file of the setting embedded_model_file, else with every model that is on
// this machine. not_found: there is none; the error says how to download one.
Result<models::ConfiguredUpstream> embedded_member(const config::Settings& settings);

// Returns whether the model has less than a billion parameters. Such a model makes things up, even with the
// right passages before it. If the file does not say how many it has: whether it is smaller than 700 MB.
bool is_small(const models::LocalModel& model);

// Runtimes by the name of the model. Each loads its model at its first request.
using EmbeddedModels = std::map<std::string, std::unique_ptr<llama::EmbeddedModel>, std::less<>>;
EmbeddedModels run_embedded(const config::Settings& settings, const models::ConfiguredUpstream& member);

// The models must outlive the link.
std::unique_ptr<UpstreamLink> make_embedded_link(const EmbeddedModels& models);

}  // namespace plimsoll
