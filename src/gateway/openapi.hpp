// Builds /openapi.json from the descriptions of the routes.
#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

namespace plimsoll::gateway {

// Part of the routing table, so that every route has a description.
struct RouteAbout {
  std::string_view method;
  std::string_view path;  // "/indexes/{name}/documents"; "{model...}" matches the rest
  std::string_view tag;   // API that it belongs to
  std::string_view summary;
  std::string_view takes{};  // schema name of its body; empty: no body
  std::string_view gives{};  // schema name of its reply; empty: an object
  std::string_view query{};  // its parameters, separated by spaces
};

// OpenAPI 3.1.
nlohmann::ordered_json openapi(std::span<const RouteAbout> routes, std::string_view version);

// Returns the schemas that `takes` and `gives` refer to. In openapi_schemas.cpp.
nlohmann::ordered_json openapi_schemas();
// Returns the query parameters by name.
nlohmann::ordered_json openapi_parameters();

}  // namespace plimsoll::gateway
