// The configured model servers, for commands and tools that need a model's window. Uses the same servers and
// gives the same answers as the gateway.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "config/settings.hpp"
#include "models/upstream_models.hpp"
#include "plimsoll/tokenizers.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {

// Finds a model on the servers. None: no server lists it, or its tokenizer is missing.
std::optional<PlanModel> served_model(const models::UpstreamModels& models, std::string_view model);

class ConfiguredServers {
 public:
  // Asks the servers for their models. The referenced objects must outlive it.
  static Result<std::unique_ptr<ConfiguredServers>> open(const config::Settings& settings,
                                                         const ModelCatalogue& catalogue,
                                                         const TokenizerLibrary& tokenizers);

  std::optional<PlanModel> model(std::string_view name) const { return served_model(models_, name); }

 private:
  ConfiguredServers(const config::Settings& settings, const ModelCatalogue& catalogue,
                    const TokenizerLibrary& tokenizers, std::vector<models::ConfiguredUpstream> members);

  FoundWindows windows_;
  models::Upstreams upstreams_;
  ledger::DriftBook drift_;
  models::UpstreamModels models_;
};

}  // namespace plimsoll
