// The Model Context Protocol as a function from a message to its answer. Knows nothing of how messages
// travel: `plimsoll mcp` hands it the lines of standard input, a web server can hand it bodies.
//
//   McpSession session;
//   std::optional<std::string> reply = answer_mcp(server, session, line);
//
// Speaks the revisions of mcp_versions(). Whatever the message holds, the answer is one line of valid JSON,
// or nothing where the protocol wants none. docs/mcp.md lists what is supported.
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

// What is known of one client.
struct McpSession {
  std::string version{};          // empty before `initialize`: spoken to as by the newest
  std::string indexes = "local";  // whose documents its tools look into
  std::string owner = "local";    // whose memories
};

struct McpTool {
  std::string name;
  std::string title;
  std::string description;
  Json input_schema;   // of the kind that mcp_schema.hpp checks
  Json output_schema;  // what `call` gives
  // Gets arguments that fit the schema. What goes wrong becomes a result that the model can read.
  std::function<Result<Json>(const Json& arguments, const McpSession& session)> call;
  enum class Effect : std::uint8_t { none, adds, deletes };  // on what is kept
  Effect effect = Effect::none;
};

struct McpServer {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // for the model: what the tools are for
  std::vector<McpTool> tools;
};

// Oldest first.
std::span<const std::string_view> mcp_versions();

// Not for one session from two threads at once.
std::optional<std::string> answer_mcp(const McpServer& server, McpSession& session, std::string_view message);

// The answer to a message of more than `limit_bytes`, which nobody read to its end.
std::string answer_mcp_too_long(std::size_t limit_bytes);

}  // namespace plimsoll::gateway
