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
  std::optional<RootedFiles> files;         // for file_paths; none: no file_paths
  std::optional<Tokens> configured_window;  // overrides all other sources
  Tokens default_window = 4096;             // if nothing is known
  PlanOptions plan = {};                    // from the settings
  // The indexes to search; an error says why there are none. Null: no such tool.
  std::function<Result<library::OpenIndexes*>()> open_indexes = {};
  std::function<Result<engine::Memories*>()> memories = {};  // the same
  // Finds a model on a configured server. None: no server lists it. Null: there are no servers.
  std::function<std::optional<PlanModel>(std::string_view model)> served = {};
  double base_min_trust = 0.3;  // S2
};

// All referenced objects must outlive the server.
McpServer make_mcp_server(ToolContext context, std::string version);

}  // namespace plimsoll::gateway
