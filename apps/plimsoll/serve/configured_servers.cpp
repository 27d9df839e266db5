#include "serve/configured_servers.hpp"

#include "base/try.hpp"
#include "serve/serve_upstreams.hpp"

namespace plimsoll {

std::optional<PlanModel> served_model(const models::UpstreamModels& models, std::string_view model) {
  constexpr std::chrono::seconds patience{5};
  const auto location = models.served_as(model);
  if (!location) return std::nullopt;
  auto opened = models.open(*location, Deadline::after(patience));
  if (!opened) return std::nullopt;
  return *std::move(opened);
}

Result<std::unique_ptr<ConfiguredServers>> ConfiguredServers::open(const config::Settings& settings,
                                                                   const ModelCatalogue& catalogue,
                                                                   const TokenizerLibrary& tokenizers) {
  TRY(auto members, configured_members(settings));
  return std::unique_ptr<ConfiguredServers>(
      new ConfiguredServers(settings, catalogue, tokenizers, std::move(members)));
}

ConfiguredServers::ConfiguredServers(const config::Settings& settings, const ModelCatalogue& catalogue,
                                     const TokenizerLibrary& tokenizers,
                                     std::vector<models::ConfiguredUpstream> members)
    : windows_(settings, catalogue, EarlierRuns::believed),
      upstreams_(std::move(members), windows_.finder()),
      models_(upstreams_, windows_.finder(), catalogue, tokenizers, drift_,
              {settings.ollama_num_ctx_max, settings.default_context_window}) {
  upstreams_.refresh(windows_.for_a_list());
}

}  // namespace plimsoll
