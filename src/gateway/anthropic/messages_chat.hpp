// A request to Anthropic's Messages API as the chat that it stands for.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

struct MessagesOptions {
  bool limited = true;  // max_tokens must be there
  // The chat goes to a server of Anthropic's: it keeps cache_control, `thinking`, is_error, and the signed
  // thoughts of earlier turns (`thinking_blocks`). Other servers refuse fields that they do not know.
  // What a chat cannot express (server tools, containers) is no error then, because such a server can also be
  // sent the request itself. Blocks and server tools are counted as their JSON; containers and MCP servers
  // are not counted.
  bool for_anthropic = false;
};

struct MessagesChat {
  nlohmann::ordered_json chat;
  std::string beyond_a_chat{};  // the first part that the chat does not express; empty: none
};

// bad_input, unsupported: what is wrong, by its place in the request.
Result<MessagesChat> chat_of_messages(const nlohmann::ordered_json& request, MessagesOptions options);

}  // namespace plimsoll::gateway
