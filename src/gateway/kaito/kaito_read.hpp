// Reads requests in RAGEngine's format, and reports errors in FastAPI's format, which its clients expect.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/mcp/mcp.hpp"
#include "library/collections.hpp"

namespace plimsoll::gateway {

// All errors of one request. The body is {"detail": [{type, loc, msg, input, ctx}, ...]}.
class Complaints {
 public:
  void add(std::string_view type, Json location, std::string message, const Json& input, Json context = {});
  void missing(Json location, const Json& around);
  bool any() const { return !list_.empty(); }
  Json body() const { return {{"detail", list_}}; }

 private:
  Json list_ = Json::array();
};

struct KaitoDocuments {
  std::vector<library::GivenDocument> given;
  Json metadata = Json::array();  // as received, for the reply
};

struct RetrieveAsk {
  std::string index, query;
  std::int64_t most = 5;
  Filter filter;
};

// Returns a server's failure as RAGEngine words it in a chat with documents, whatever the server's status.
Error ragengine_failure(std::string_view said);

// Parses the body as an object. bad_input: too deep or too large; an empty object if there are complaints.
Result<Json> read_object(const std::string& body, Complaints& complaints);

std::string read_text(const Json& object, const char* key, Complaints& complaints);
// Reads an index name: not empty, without control characters.
std::string read_index_name(const Json& object, Complaints& complaints);
KaitoDocuments read_documents(const Json& object, Complaints& complaints);
std::vector<std::string> read_texts(const Json& object, const char* key, Complaints& complaints);
RetrieveAsk read_retrieve(const Json& object, std::int64_t most_nodes, Complaints& complaints);

// Reads a query parameter.
std::int64_t whole_parameter(std::string_view query, const char* name, std::int64_t otherwise,
                             std::int64_t least, std::optional<std::int64_t> most, Complaints& complaints);
bool flag_parameter(std::string_view query, const char* name, Complaints& complaints);

// Converts a JSON object to metadata for the store.
Metadata metadata_from(const Json& object);
Json json_from(const Metadata& metadata);

}  // namespace plimsoll::gateway
