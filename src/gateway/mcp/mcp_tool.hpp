// Shared parts of the tools, and their declarations. Private to this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/mcp/mcp_tools.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::gateway {

using Context = std::shared_ptr<const ToolContext>;

constexpr std::chrono::seconds tool_patience{60};  // for searches and memories

McpTool strategy_tool(Context context);
McpTool count_tool(Context context);
McpTool window_tool(Context context);
McpTool plan_tool(Context context);
McpTool search_tool(Context context);
McpTool indexes_tool(Context context);
std::vector<McpTool> memory_tools(const Context& context);

// The tokenizer to count with: by model, else by tokenizer name, else o200k_base.
struct Scale {
  Tokenizer tokenizer;
  ChatOptions chat;
  std::string model;  // name in the catalogue; empty: no model given
  Exactness exactness = Exactness::exact;
  std::string why;  // reason, if it is not exact
};
Result<Scale> choose_scale(const ToolContext& context, const std::string& model,
                           const std::string& tokenizer);

// Finds the model on a configured server.
std::optional<PlanModel> served_model(const ToolContext& context, std::string_view model);

// Returns a model's window: from the settings, else from a configured server, else from the catalogue, else
// the default.
Window known_window(const ToolContext& context, std::string_view model);

// Short forms for schemas.
Json text_schema(std::string_view description);
Json count_schema(std::string_view description, std::int64_t least);
Json object_schema(Json properties, Json required);

// Read members that match their schema, or their default.
std::string text_of(const Json& arguments, const char* name);
std::optional<std::int64_t> integer_of(const Json& arguments, const char* name);

}  // namespace plimsoll::gateway
