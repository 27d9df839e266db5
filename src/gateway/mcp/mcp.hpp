// The Model Context Protocol as a function from a message to its answer, independent of the transport:
// `plimsoll mcp` passes the lines of standard input, the gateway passes HTTP bodies.
//
//   McpSession session;
//   std::optional<McpAnswer> reply = answer_mcp(server, session, line);
//
// Supports the revisions of mcp_versions(). Whatever the message is, the answer is one line of valid JSON,
// or none if the protocol requires none. docs/mcp.md lists the supported features.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

using Json = nlohmann::ordered_json;

// State of one client.
struct McpSession {
  std::string version{};          // empty before `initialize`: treated as the newest
  std::string indexes = "local";  // owner of the indexes that its tools search
  std::string owner = "local";    // owner of the memories
};

struct McpTool {
  std::string name;
  std::string title;
  std::string description;
  Json input_schema;   // the subset that mcp_schema.hpp checks
  Json output_schema;  // result of `call`
  // Gets arguments that match the schema. Errors become a result that the model can read.
  std::function<Result<Json>(const Json& arguments, const McpSession& session)> call;
  enum class Effect : std::uint8_t { none, adds, deletes };  // on stored data
  Effect effect = Effect::none;
};

struct McpServer {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // purpose of the tools, for the model
  std::vector<McpTool> tools;
};

// Oldest first.
std::span<const std::string_view> mcp_versions();

struct McpAnswer {
  std::string text;        // one line of JSON
  bool to_message = true;  // false: what came is not a message, and has no id to answer to
};

// Do not use one session from two threads at once.
std::optional<McpAnswer> answer_mcp(const McpServer& server, McpSession& session, std::string_view message);

// Returns the answer to a message of more than `limit_bytes`, which was not read completely.
std::string answer_mcp_too_long(std::size_t limit_bytes);

}  // namespace plimsoll::gateway
