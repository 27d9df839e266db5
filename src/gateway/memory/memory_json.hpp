// Memories as JSON for HTTP and MCP clients and for `plimsoll memory --json`.
#pragma once

#include "engine/evidence/memories.hpp"
#include "gateway/mcp/mcp.hpp"

namespace plimsoll::gateway {

Json memory_json(const Fact& fact);
Json memory_json(const FactFeedback& feedback);
Json memory_json(const engine::AddedFact& added);
Json memory_json(const engine::FactWithHistory& shown);
Json memory_json(const memory::OwnSearch& found);  // {data: [...], notes: [...]}
Json memory_json(const std::vector<Fact>& facts);  // {data: [...]}
Json memory_json(const Forgotten& forgotten);

}  // namespace plimsoll::gateway
