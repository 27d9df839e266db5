// The model servers of the settings, for commands and tools that ask what a model's window is: the same
// servers, and the same answers, as the gateway's.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/settings/settings.hpp"
#include "models/upstream_models.hpp"
#include "plimsoll/tokenizers.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {

// A model as one of the servers serves it. None: no server lists it, or its tokenizer is not there.
std::optional<PlanModel> location(const models::UpstreamModels& models, std::string_view model);

class ConfiguredServers {
 public:
  // The servers are asked for their models at once. What the references lead to outlives it.
  static Result<std::unique_ptr<ConfiguredServers>> open(const base::Settings& settings,
                                                         const ModelCatalogue& catalogue,
                                                         const TokenizerLibrary& tokenizers);

  std::optional<PlanModel> model(std::string_view name) const { return location(models_, name); }

 private:
  ConfiguredServers(const base::Settings& settings, const ModelCatalogue& catalogue,
                    const TokenizerLibrary& tokenizers, std::vector<models::ConfiguredUpstream> members);

  FoundWindows windows_;
  models::Upstreams upstreams_;
  ledger::DriftBook drift_;
  models::UpstreamModels models_;
};

}  // namespace plimsoll
