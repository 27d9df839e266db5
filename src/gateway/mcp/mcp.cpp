#include "gateway/mcp/mcp.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include <fmt/format.h>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "gateway/mcp/mcp_schema.hpp"

namespace plimsoll::gateway {
namespace {

// Lets a client ask its user before it calls a tool that changes something.
Json annotations_of(const McpTool& tool) {
  Json out{{"title", tool.title},
           {"readOnlyHint", tool.effect == McpTool::Effect::none},
           {"openWorldHint", false}};
  if (tool.effect != McpTool::Effect::none) out["destructiveHint"] = tool.effect == McpTool::Effect::deletes;
  return out;
}

constexpr std::array<std::string_view, 4> versions{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
constexpr std::string_view with_batches = "2025-03-26";  // only in this revision
constexpr std::size_t most_in_batch = 32;  // a batch counts as one request for limits and deadlines

// Deeper messages are refused before parsing: reading and writing JSON uses stack per level.

enum Code : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
};

struct RpcError {
  Code code;
  std::string what;
};
using Answer = tl::expected<Json, RpcError>;

tl::unexpected<RpcError> refuse(Code code, std::string what) {
  return tl::unexpected<RpcError>(RpcError{code, std::move(what)});
}

Json error_of(const Json& id, const RpcError& refusal) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", refusal.code}, {"message", refusal.what}}}};
}

Json text_content(std::string_view text) {
  Json list = Json::array();
  list.push_back(Json{{"type", "text"}, {"text", text}});
  return list;
}

// The server as one session sees it.
class RpcSession {
 public:
  RpcSession(const McpServer& server, McpSession& session) : server_(server), session_(session) {}

  std::optional<Json> answer(const Json& message) {
    if (message.is_array()) return answer_batch(message);
    return answer_one(message, false);
  }

 private:
  bool speaks(std::string_view version) const {
    return session_.version.empty() || session_.version >= version;
  }

  std::optional<Json> answer_batch(const Json& batch) {
    if (session_.version != with_batches)
      return error_of(nullptr, {invalid_request, fmt::format("batches exist only in {}", with_batches)});
    if (batch.empty()) return error_of(nullptr, {invalid_request, "the batch is empty"});
    if (batch.size() > most_in_batch)
      return error_of(nullptr,
                      {invalid_request, fmt::format("a batch has {} messages; at most {} are allowed",
                                                    batch.size(), most_in_batch)});
    Json answers = Json::array();
    for (const Json& message : batch) {
      if (auto reply = answer_one(message, true)) answers.push_back(*std::move(reply));
    }
    if (answers.empty()) return {};
    return answers;
  }

  std::optional<Json> answer_one(const Json& message, bool in_batch) {
    if (!message.is_object()) return error_of(nullptr, {invalid_request, "a message must be a JSON object"});
    const auto member = [&](const char* name) { return message.contains(name) ? message[name] : Json(); };
    const Json id = member("id");
    const bool has_id = id.is_string() || id.is_number();
    const Json method = member("method");
    // We send no requests to clients, so this reply is ignored.
    if (method.is_null() && (message.contains("result") || message.contains("error"))) return {};
    if (member("jsonrpc") != "2.0")
      return error_of(has_id ? id : Json(), {invalid_request, "\"jsonrpc\" must be \"2.0\""});
    if (!method.is_string())
      return error_of(has_id ? id : Json(), {invalid_request, "\"method\" must be a string"});
    if (!message.contains("id")) return {};  // a notification: nothing to do
    if (!has_id) return error_of(nullptr, {invalid_request, "\"id\" must be a string or a number"});

    const auto& name = method.get_ref<const std::string&>();
    if (in_batch && name == "initialize")
      return error_of(id, {invalid_request, "initialize must not be in a batch"});
    const Json params = message.contains("params") ? message["params"] : Json::object();
    if (!params.is_object()) return error_of(id, {invalid_params, "\"params\" must be an object"});
    const Answer answer = guarded(name, params);
    if (!answer) return error_of(id, answer.error());
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", *answer}};
  }

  // Catches exceptions of libraries, so that the next message can be answered.
  Answer guarded(const std::string& method, const Json& params) {
    try {
      return dispatch(method, params);
    } catch (const std::exception& error) {
      log::error("mcp request failed", {{"method", method}, {"why", error.what()}});
      return refuse(internal_error, fmt::format("internal error in {}: {}", method, error.what()));
    }
  }

  Answer dispatch(const std::string& method, const Json& params) {
    if (method == "initialize") return initialize(params);
    if (method == "ping") return Json::object();
    if (method == "tools/list") return list_tools(params);
    if (method == "tools/call") return call_tool(params);
    return refuse(method_not_found, fmt::format("this server has no method '{}'", method));
  }

  Answer initialize(const Json& params) {
    if (!params.contains("protocolVersion") || !params["protocolVersion"].is_string())
      return refuse(invalid_params, "initialize needs \"protocolVersion\", a string");
    const auto& asked = params["protocolVersion"].get_ref<const std::string&>();
    const bool known = std::ranges::find(versions, std::string_view(asked)) != versions.end();
    session_.version = known ? asked : std::string(versions.back());
    log::debug("mcp session", {{"asked", asked}, {"version", session_.version}});
    Json info{{"name", server_.name}};
    if (speaks("2025-06-18")) info["title"] = server_.title;
    info["version"] = server_.version;
    return Json{{"protocolVersion", session_.version},
                {"capabilities", {{"tools", {{"listChanged", false}}}}},
                {"serverInfo", info},
                {"instructions", server_.instructions}};
  }

  Answer list_tools(const Json& params) const {
    if (params.contains("cursor") && !params["cursor"].is_null())
      return refuse(invalid_params, "unknown cursor: the list has one page");
    Json list = Json::array();
    for (const McpTool& tool : server_.tools) {
      Json entry{{"name", tool.name}};
      if (speaks("2025-06-18")) entry["title"] = tool.title;
      entry["description"] = tool.description;
      entry["inputSchema"] = tool.input_schema;
      if (speaks("2025-06-18")) entry["outputSchema"] = tool.output_schema;
      if (speaks("2025-03-26")) entry["annotations"] = annotations_of(tool);
      list.push_back(std::move(entry));
    }
    return Json{{"tools", list}};
  }

  Answer call_tool(const Json& params) const {
    if (!params.contains("name") || !params["name"].is_string())
      return refuse(invalid_params, "tools/call needs \"name\", a string");
    const auto& name = params["name"].get_ref<const std::string&>();
    const auto tool = std::ranges::find(server_.tools, name, &McpTool::name);
    if (tool == server_.tools.end()) return refuse(invalid_params, fmt::format("unknown tool '{}'", name));
    const Json given =
        params.contains("arguments") && !params["arguments"].is_null() ? params["arguments"] : Json::object();
    if (!given.is_object()) return refuse(invalid_params, "\"arguments\" must be an object");
    const Json arguments = without_nulls(given, tool->input_schema);
    if (const auto fits = check_schema(arguments, tool->input_schema); !fits) {
      // In the newest revision the model gets the error; in earlier ones it is a protocol error.
      if (!speaks("2025-11-25")) return refuse(invalid_params, fits.error().what);
      return failure(fits.error());
    }
    const Result<Json> result = tool->call(arguments, session_);
    log::debug("mcp tool", {{"tool", name}, {"ok", result.has_value()}});
    if (!result) return failure(result.error());
    Json answer{{"content", text_content(base::json_text(*result))}};
    if (speaks("2025-06-18")) answer["structuredContent"] = *result;
    answer["isError"] = false;
    return answer;
  }

  static Json failure(const Error& error) {
    return {{"content", text_content(error.what)}, {"isError", true}};
  }

  const McpServer& server_;
  McpSession& session_;
};

}  // namespace

std::span<const std::string_view> mcp_versions() {
  return versions;
}

std::optional<McpAnswer> answer_mcp(const McpServer& server, McpSession& session, std::string_view message) {
  if (base::trim(message).empty()) return {};
  if (const auto shape = base::check_json_shape(message, "the message"); !shape)
    return McpAnswer{base::json_text(error_of(nullptr, {parse_error, shape.error().what})), false};
  const Json json = base::parse_json(message);
  if (json.is_discarded())
    return McpAnswer{base::json_text(error_of(nullptr, {parse_error, "the message is not JSON"})), false};
  const auto answer = RpcSession(server, session).answer(json);
  if (!answer) return {};
  const bool is_refused = answer->is_object() && answer->contains("error") && (*answer)["id"].is_null();
  return McpAnswer{base::json_text(*answer), !is_refused};
}

std::string answer_mcp_too_long(std::size_t limit_bytes) {
  return base::json_text(
      error_of(nullptr, {invalid_request, fmt::format("the message is longer than {} and was ignored",
                                                      base::human_bytes(limit_bytes))}));
}

}  // namespace plimsoll::gateway
