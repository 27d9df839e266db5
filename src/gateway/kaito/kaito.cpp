#include "gateway/kaito/kaito.hpp"

#include <algorithm>
#include <functional>

#include "base/json/json_shape.hpp"
#include "base/json/parse_json.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "gateway/error_json.hpp"
#include "gateway/http/target.hpp"
#include "gateway/kaito/kaito_read.hpp"

namespace plimsoll::gateway {
namespace {

Json document_json(std::string_view id, Json text, Json metadata) {
  return {{"doc_id", id},
          {"text", std::move(text)},
          {"metadata", std::move(metadata)},
          {"hash_value", nullptr},
          {"is_truncated", false}};
}

// Returns a hash of a chunk's content.
std::string hash_of(const library::Node& node) {
  base::Sha256 hash;
  hash.update(node.text);
  for (const auto& [key, value] : node.metadata) hash.update(key + "=" + value + "\n");
  return hash.hex();
}

// The first `most` characters.
std::string_view front_of(std::string_view text, std::int64_t most) {
  std::size_t at = 0;
  while (at < text.size() && most-- > 0) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U);
  return text.substr(0, at);
}

}  // namespace

void Kaito::add_routes(Router& router) const {
  if (context_.collections == nullptr) return;
  using Method = Answer (Kaito::*)(const ClientRequest&, const std::string&, Deadline) const;
  const auto add = [&](RouteAbout about, RagRoute metric, Lane lane, Method handler) {
    router.add({about, on_worker(Blocking(std::bind_front(handler, this))), {}, lane, metric});
  };
  add({"GET", "/indexes", "ragengine", "List all indexes", "", "Names"}, RagRoute::indexes, Lane::interactive,
      &Kaito::list_indexes);
  add({"POST", "/index", "ragengine", "Add documents to an index, which is created if needed", "Index",
       "Documents"},
      RagRoute::index, Lane::bulk, &Kaito::index_documents);
  add({"GET", "/indexes/{name}/documents", "ragengine", "List the documents of an index", "", "DocumentPage",
       "limit offset max_text_length metadata_filter"},
      RagRoute::documents, Lane::interactive, &Kaito::list_documents);
  add({"POST", "/indexes/{name}/documents", "ragengine", "Update documents", "Updates"},
      RagRoute::update_documents, Lane::bulk, &Kaito::update_documents);
  add({"POST", "/indexes/{name}/documents/delete", "ragengine", "Delete documents from an index",
       "Deletions"},
      RagRoute::delete_documents, Lane::bulk, &Kaito::delete_documents);
  add({"DELETE", "/indexes/{name}", "ragengine", "Delete an index with all its documents", "", "Said"},
      RagRoute::delete_index, Lane::bulk, &Kaito::delete_index);
  add({"POST", "/persist/{name}", "ragengine", "Save a snapshot of an index", "", "Said", "path"},
      RagRoute::persist, Lane::bulk, &Kaito::persist);
  add({"POST", "/load/{name}", "ragengine", "Load an index from a snapshot", "", "Said", "path overwrite"},
      RagRoute::load, Lane::bulk, &Kaito::load);
  add({"POST", "/retrieve", "ragengine", "Find the best nodes for a query", "Retrieve", "Retrieved"},
      RagRoute::retrieve, Lane::interactive, &Kaito::retrieve);
}

Kaito::Answer Kaito::failed(const Error& error, std::string_view doing) const {
  int status = status_of(error.code);
  if (context_.compat && error.code == Errc::unsupported) status = 500;
  return {status, {{"detail", status < 500 ? error.what : std::string(doing) + error.what}}};
}

Kaito::Answer Kaito::list_indexes(const ClientRequest& request, const std::string&, Deadline) const {
  const auto names = context_.collections->names(request.caller.indexes);
  if (!names) return failed(names.error());
  return {200, Json(*names)};
}

Kaito::Answer Kaito::index_documents(const ClientRequest& request, const std::string&,
                                     Deadline deadline) const {
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) return failed(body.error());
  std::string name;
  KaitoDocuments documents;
  if (!complaints.any()) {
    name = read_index_name(*body, complaints);
    documents = read_documents(*body, complaints);
  }
  if (complaints.any()) return {422, complaints.body()};
  Json reply = Json::array();
  for (std::size_t i = 0; i < documents.given.size(); ++i) {
    library::GivenDocument& one = documents.given[i];
    one.id = base::sha256_hex(one.text);
    reply.push_back(document_json(one.id, one.text, std::move(documents.metadata[i])));
  }
  const auto added = timed(StoreOperation::insert, [&] {
    return context_.collections->add(request.caller.indexes, name, documents.given, deadline);
  });
  if (!added) return failed(added.error());
  return {200, std::move(reply)};
}

Kaito::Answer Kaito::list_documents(const ClientRequest& request, const std::string& name, Deadline) const {
  Complaints complaints;
  const auto limit = whole_parameter(request.query, "limit", 10, 1, 100, complaints);
  const auto offset = whole_parameter(request.query, "offset", 0, 0, std::nullopt, complaints);
  const auto longest = whole_parameter(request.query, "max_text_length", 1'000, 1, std::nullopt, complaints);
  if (complaints.any()) return {422, complaints.body()};
  Filter filter;
  if (const auto text = query_value(request.query, "metadata_filter"); text && !text->empty()) {
    const auto shape = base::check_json_shape(*text, "the filter");
    const Json json = shape ? base::parse_json(*text) : Json();
    if (!json.is_object())
      return failed({Errc::bad_input, "Invalid metadata filter format. Must be a valid JSON string."});
    filter = metadata_from(json);
  }
  const auto info = context_.collections->find(request.caller.indexes, name);
  if (!info) return failed(info.error());
  const auto page = library::list_nodes(context_.collections->store(), *info, filter, offset, limit);
  if (!page) return failed(page.error());
  Json documents = Json::array();
  for (const library::Node& node : page->nodes) {
    const std::string_view text = front_of(node.text, longest);
    Json one = document_json(node.document, text, json_from(node.metadata));
    one["hash_value"] = hash_of(node);
    one["is_truncated"] = text.size() < node.text.size();
    documents.push_back(std::move(one));
  }
  const std::size_t count = documents.size();
  return {200, {{"documents", std::move(documents)}, {"count", count}, {"total_items", page->total}}};
}

Kaito::Answer Kaito::update_documents(const ClientRequest& request, const std::string& name,
                                      Deadline deadline) const {
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) return failed(body.error());
  KaitoDocuments documents;
  if (!complaints.any()) documents = read_documents(*body, complaints);
  if (complaints.any()) return {422, complaints.body()};
  const auto outcome = context_.collections->update(request.caller.indexes, name, documents.given, deadline);
  if (!outcome) return failed(outcome.error());
  const auto those = [&](const std::vector<std::size_t>& places) {
    Json list = Json::array();
    for (const std::size_t i : places)
      list.push_back(document_json(documents.given[i].id, documents.given[i].text, documents.metadata[i]));
    return list;
  };
  return {200,
          {{"updated_documents", those(outcome->updated)},
           {"unchanged_documents", those(outcome->unchanged)},
           {"not_found_documents", those(outcome->not_found)}}};
}

Kaito::Answer Kaito::delete_documents(const ClientRequest& request, const std::string& name, Deadline) const {
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) return failed(body.error());
  std::vector<std::string> ids;
  if (!complaints.any()) ids = read_texts(*body, "doc_ids", complaints);
  if (complaints.any()) return {422, complaints.body()};
  auto removed = timed(StoreOperation::remove,
                       [&] { return context_.collections->remove(request.caller.indexes, name, ids); });
  if (!removed) return failed(removed.error());
  std::ranges::sort(*removed);
  Json gone = Json::array(), unknown = Json::array();
  for (const std::string& id : ids) (std::ranges::binary_search(*removed, id) ? gone : unknown).push_back(id);
  return {200, {{"deleted_doc_ids", std::move(gone)}, {"not_found_doc_ids", std::move(unknown)}}};
}

Kaito::Answer Kaito::delete_index(const ClientRequest& request, const std::string& name, Deadline) const {
  const auto removed = context_.collections->remove_index(request.caller.indexes, name);
  if (!removed) return failed(removed.error());
  return {200, {{"message", fmt::format("Successfully deleted index {}.", name)}}};
}

}  // namespace plimsoll::gateway
