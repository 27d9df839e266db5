// Output of `plimsoll models`: tables for people, JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "models/upstream.hpp"
#include "models/window_finder.hpp"
#include "plimsoll/models.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

std::string catalogue_table(const std::vector<const ModelCard*>& cards, const Terminal& terminal);
std::string catalogue_json(const std::vector<const ModelCard*>& cards);

// Prints the models of a server; `upstream` is null for files.
std::string served_table(const std::vector<models::ListedModel>& models, const ModelCatalogue& catalogue,
                         const models::Upstream* upstream, const Terminal& terminal);
std::string served_json(const std::vector<models::ListedModel>& models, const ModelCatalogue& catalogue,
                        const models::Upstream* upstream);

// The models of one of several servers.
struct ServerModels {
  std::string name;  // "ollama"
  models::Upstream server;
  std::vector<models::ListedModel> models;
};
std::string servers_table(const std::vector<ServerModels>& servers, const ModelCatalogue& catalogue,
                          const Terminal& terminal);
std::string servers_json(const std::vector<ServerModels>& servers, const ModelCatalogue& catalogue);

}  // namespace plimsoll
