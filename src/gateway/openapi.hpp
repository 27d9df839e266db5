// What /openapi.json says, made from what the routes say of themselves.
#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

namespace plimsoll::gateway {

// Stands in the table that requests are matched by, so that no route is without one.
struct RouteAbout {
  std::string_view method;
  std::string_view path;  // "/indexes/{name}/documents"; "{model...}" is all that follows
  std::string_view tag;   // whose API it is of
  std::string_view summary;
  std::string_view takes{};  // the schema of its body by name; empty: it has none
  std::string_view gives{};  // of its reply; empty: an object
  std::string_view query{};  // its parameters, separated by spaces
};

// OpenAPI 3.1.
nlohmann::ordered_json openapi(std::span<const RouteAbout> routes, std::string_view version);

// The schemas that `takes` and `gives` name, as OpenAPI's components. In openapi_schemas.cpp.
nlohmann::ordered_json openapi_schemas();
// The parameters of queries, by name.
nlohmann::ordered_json openapi_parameters();

}  // namespace plimsoll::gateway
