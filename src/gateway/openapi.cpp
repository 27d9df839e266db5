#include "gateway/openapi.hpp"

#include <algorithm>
#include <string>

#include "base/text/text.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;

Json reference(std::string_view schema) {
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

// "{model...}" becomes "{model}".
std::string shown_path(std::string_view path) {
  std::string out(path);
  if (const std::size_t rest = out.find("...}"); rest != std::string::npos) out.erase(rest, 3);
  return out;
}

// "post_v1_chat_completions"
std::string operation_id(const RouteAbout& route) {
  std::string out = base::to_lower_ascii(route.method);
  bool apart = true;
  for (const char c : shown_path(route.path)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain && apart) out += '_';
    if (plain) out += c;
    apart = !plain;
  }
  return out;
}

Json parameters_of(const RouteAbout& route, const Json& known) {
  Json out = Json::array();
  const std::string path = shown_path(route.path);
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1)) {
    const std::string name = path.substr(open + 1, path.find('}', open) - open - 1);
    out.push_back({{"name", name},
                   {"in", "path"},
                   {"required", true},
                   {"schema", {{"type", "string"}, {"minLength", 1}}}});
  }
  std::string_view rest = route.query;
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    out.push_back(known.at(std::string(rest.substr(0, space))));
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return out;
}

Json body_of(std::string_view schema) {
  const char* type = schema == "Upload" ? "multipart/form-data" : "application/json";
  return {{"required", true}, {"content", {{type, {{"schema", reference(schema)}}}}}};
}

Json replies_of(const RouteAbout& route) {
  Json content;
  if (route.gives == "text") {
    content["text/plain"] = {{"schema", {{"type", "string"}}}};
  } else if (route.gives == "events") {
    content["text/event-stream"] = {{"schema", {{"description", "Server-sent events."}}}};
  } else if (route.gives == "file") {
    for (const char* type : {"text/html", "text/javascript", "text/css", "image/svg+xml"})
      content[type] = {{"schema", {{"type", "string"}}}};
  } else {
    const Json any{{"type", "object"}};
    content["application/json"] = {{"schema", route.gives.empty() ? any : reference(route.gives)}};
  }
  if (route.path == "/") content["text/html"] = {{"schema", {{"type", "string"}}}};
  // Routes that can stream.
  if (route.gives == "Answer" || route.gives == "Response" || route.gives == "MessageAnswer")
    content["text/event-stream"] = {{"schema", {{"description", "Server-sent events."}}}};
  if (route.gives == "OllamaAnswer") content["application/x-ndjson"] = {{"schema", {{"type", "string"}}}};
  const Json failed{{"application/json", {{"schema", reference("Error")}}}};
  Json out;
  if (route.gives == "RpcReply") out["202"] = {{"description", "Accepted; there is no answer."}};
  out["2XX"] = {{"description", "Success."}, {"content", std::move(content)}};
  out["default"] = {{"description", "An error with numbers and a remedy."}, {"content", failed}};
  return out;
}

}  // namespace

Json openapi(std::span<const RouteAbout> routes, std::string_view version) {
  const Json known = openapi_parameters();
  Json paths = Json::object();
  for (const RouteAbout& route : routes) {
    Json operation{
        {"operationId", operation_id(route)}, {"summary", route.summary}, {"tags", Json::array({route.tag})}};
    if (Json parameters = parameters_of(route, known); !parameters.empty())
      operation["parameters"] = std::move(parameters);
    if (!route.takes.empty()) operation["requestBody"] = body_of(route.takes);
    operation["responses"] = replies_of(route);
    paths[shown_path(route.path)][base::to_lower_ascii(route.method)] = std::move(operation);
  }
  Json out{{"openapi", "3.1.0"},
           {"info",
            {{"title", "Plimsoll"},
             {"version", version},
             {"summary", "Manages the context window of LLMs."},
             {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
           {"paths", std::move(paths)}};
  out["components"]["schemas"] = openapi_schemas();
  out["components"]["securitySchemes"]["key"] = {{"type", "http"}, {"scheme", "bearer"}};
  // With a key, or without if the gateway has none.
  out["security"] = Json::array({Json{{"key", Json::array()}}, Json::object()});
  return out;
}

}  // namespace plimsoll::gateway
