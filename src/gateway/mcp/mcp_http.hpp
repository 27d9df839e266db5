// MCP over streamable HTTP: maps header and body of a POST to a reply. Stateless: there are no
// sessions, and each message is answered independently.
#pragma once

#include <string>
#include <string_view>

#include "engine/caller.hpp"
#include "gateway/mcp/mcp.hpp"

namespace plimsoll::gateway {

struct McpReply {
  int status = 200;
  std::string body;  // empty: no answer (202)
};

// `version`: the header MCP-Protocol-Version; empty: a client of 2025-03-26, which does not send it.
// `who`: owner of documents and memories.
McpReply answer_mcp_post(const McpServer& server, std::string_view version, std::string_view body,
                         engine::Caller who = {});

}  // namespace plimsoll::gateway
