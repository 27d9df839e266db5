#include "base/try.hpp"
#include "gateway/mcp/mcp_tool.hpp"
#include "library/open_indexes.hpp"

namespace plimsoll::gateway {
namespace {

constexpr const char* indexes_description =
    "Lists the indexes of documents that search_documents can search, with the number of documents, "
    "chunks and tokens of each.";

Json indexes_output_schema() {
  const auto of = [](const char* type) { return Json{{"type", type}}; };
  Json index = object_schema({{"name", of("string")},
                              {"documents", of("integer")},
                              {"chunks", of("integer")},
                              {"tokens", of("integer")},
                              {"tokenizer", of("string")}},
                             {"name", "documents", "chunks", "tokens"});
  return object_schema({{"indexes", {{"type", "array"}, {"items", std::move(index)}}}}, {"indexes"});
}

Result<Json> call_indexes(const ToolContext& context, std::string_view owner) {
  TRY(library::OpenIndexes * open_indexes, context.open_indexes());
  TRY(const auto all, open_indexes->store().indexes(owner));
  Json indexes = Json::array();
  for (const IndexInfo& info : all)
    indexes.push_back({{"name", info.name},
                       {"documents", info.documents},
                       {"chunks", info.chunks},
                       {"tokens", info.tokens},
                       {"tokenizer", info.settings.tokenizer}});
  return Json{{"indexes", std::move(indexes)}};
}

}  // namespace

McpTool indexes_tool(Context context) {
  return {"list_indexes",
          "List indexes",
          indexes_description,
          object_schema(Json::object(), Json::array()),
          indexes_output_schema(),
          [context = std::move(context)](const Json&, const McpSession& session) {
            return call_indexes(*context, session.indexes);
          }};
}

}  // namespace plimsoll::gateway
