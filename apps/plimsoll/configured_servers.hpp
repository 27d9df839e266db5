// The model servers of the settings, for commands and tools that ask what a model's window is: the same
// servers, and the same answers, as the gateway's.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/settings.hpp"
#include "engine/fleet_models.hpp"
#include "find_window.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {

// A model as one of the servers serves it. None: no server lists it, or its tokenizer is not there.
std::optional<PlanModel> served_model(const engine::FleetModels& models, std::string_view model);

class ConfiguredServers {
 public:
  // The servers are asked for their models at once. What the references lead to outlives it.
  static Result<std::unique_ptr<ConfiguredServers>> open(const base::Settings& settings,
                                                         const ModelCatalogue& catalogue,
                                                         const TokenizerLibrary& tokenizers);

  std::optional<PlanModel> model(std::string_view name) const { return served_model(models_, name); }

 private:
  ConfiguredServers(const base::Settings& settings, const ModelCatalogue& catalogue,
                    const TokenizerLibrary& tokenizers, std::vector<engine::FleetMember> members);

  FoundWindows windows_;
  engine::Fleet fleet_;
  ledger::DriftBook drift_;
  engine::FleetModels models_;
};

}  // namespace plimsoll
