// The tools that Plimsoll offers over MCP: context_strategy, count_tokens, model_window, plan_context,
// list_indexes, search_documents, and those for memories: add_memory, search_memories, memory_feedback,
// forget_memory.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "gateway/mcp/mcp.hpp"
#include "gateway/mcp/mcp_files.hpp"
#include "plimsoll/models.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll::engine {
class Memories;
}  // namespace plimsoll::engine
namespace plimsoll::library {
class OpenIndexes;
}  // namespace plimsoll::library

namespace plimsoll::gateway {

struct ToolContext {
  const ModelCatalogue* catalogue;
  const TokenizerLibrary* tokenizers;
  std::optional<RootedFiles> files;         // what file_paths may name; none: there are no file_paths
  std::optional<Tokens> configured_window;  // stands above whatever else is known
  Tokens default_window = 4096;             // where nothing is
  PlanOptions plan = {};                    // what the user set for plans
  // The indexes to search; an error says why there are none. Null: there is no such tool.
  std::function<Result<library::OpenIndexes*>()> open_indexes = {};
  std::function<Result<engine::Memories*>()> memories = {};  // likewise
  // A model as a configured server serves it. None: no server lists it. Null: there are no servers.
  std::function<std::optional<PlanModel>(std::string_view model)> served = {};
  double base_min_trust = 0.3;  // S2
};

// What the pointers lead to outlives the server.
McpServer make_mcp_server(ToolContext context, std::string version);

}  // namespace plimsoll::gateway
