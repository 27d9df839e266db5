// What the tools share, and each of them. Private to the room.
#pragma once

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

McpTool strategy_tool(Context context);
McpTool count_tool(Context context);
McpTool window_tool(Context context);
McpTool plan_tool(Context context);
McpTool search_tool(Context context);
McpTool indexes_tool(Context context);
std::vector<McpTool> memory_tools(const Context& context);

// What to count with, by a model's name, else by a tokenizer's, else o200k_base.
struct Scale {
  Tokenizer tokenizer;
  ChatOptions chat;
  std::string model;  // the catalogue's name; empty: none was named
  Exactness exactness = Exactness::exact;
  std::string why;  // where it is not exact
};
Result<Scale> choose_scale(const ToolContext& context, const std::string& model,
                           const std::string& tokenizer);

// The model as a configured server serves it, if one does.
std::optional<PlanModel> location(const ToolContext& context, std::string_view model);

// A model's window: what the user set, else what a configured server serves, else the catalogue's, else the
// default.
Window known_window(const ToolContext& context, std::string_view model);

// Schemas, in few words.
Json text_schema(std::string_view description);
Json count_schema(std::string_view description, std::int64_t least);
Json object_schema(Json properties, Json required);

// Members that fit their schema, or what stands for them.
std::string text_of(const Json& arguments, const char* name);
std::optional<std::int64_t> integer_of(const Json& arguments, const char* name);

}  // namespace plimsoll::gateway
