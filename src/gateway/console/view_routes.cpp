#include "gateway/console/view_routes.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/clock.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/console/graph_json.hpp"
#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

// Text shown before and after a passage.
constexpr std::uint64_t most_around = 200'000;

Json limits_json(const KeyLimits& limits) {
  const auto limit = [](std::int64_t value) { return value > 0 ? Json(value) : Json(); };
  return {{"requests_per_minute", limit(limits.requests_per_minute)},
          {"tokens_per_minute", limit(limits.tokens_per_minute)},
          {"tokens_per_day", limit(limits.tokens_per_day)}};
}

// Returns the position in the text of a position in the file.
std::uint64_t in_text(const Document& document, std::uint64_t source) {
  if (document.origins.empty() || !document.addressable) return source;
  std::uint64_t text = 0;
  for (const Origin& one : document.origins) {
    if (one.source > source) break;
    text = one.text + std::min(source - one.source, one.bytes);
  }
  return text;
}

// Returns the nearest position at or before `at` where a character begins.
std::size_t character_at(std::string_view text, std::uint64_t at) {
  auto place = static_cast<std::size_t>(std::min<std::uint64_t>(at, text.size()));
  while (place > 0 && place < text.size() && (static_cast<unsigned char>(text[place]) & 0xC0) == 0x80)
    --place;
  return place;
}

Json head_json(const DocumentHead& head) {
  return {{"document", head.key},       {"media_type", head.media_type},
          {"bytes", head.source_bytes}, {"text_bytes", head.text_bytes},
          {"chunks", head.chunks},      {"tokens", head.tokens},
          {"added_ms", head.added_ms},  {"cursor", head.id}};
}

}  // namespace

void ViewRoutes::add_routes(Router& router) const {
  using Method = Result<JsonAnswer> (ViewRoutes::*)(const ClientRequest&, const std::string&, Deadline) const;
  const auto add = [&](RouteAbout about, Method handler) {
    router.add({about, on_worker(Fallible(std::bind_front(handler, this)))});
  };
  if (context_.keys != nullptr) {
    add({"GET", "/v1/account", "console", "Who asks, with the limits of the key", "", "Account"},
        &ViewRoutes::account);
    add({"GET", "/v1/usage", "console", "Tokens by day, model or section", "", "Usage", "days by"},
        &ViewRoutes::usage);
  }
  if (context_.indexes == nullptr) return;
  add({"GET", "/v1/indexes", "console", "The indexes with their sizes", "", "IndexList"},
      &ViewRoutes::indexes);
  add({"GET", "/v1/indexes/{name}/documents", "console", "Documents of an index", "", "DocumentList",
       "most cursor"},
      &ViewRoutes::documents);
  add({"GET", "/v1/indexes/{name}/names", "console", "The names in an index, or what is around one of them",
       "", "FoundNames", "entity many"},
      &ViewRoutes::names);
  add({"GET", "/v1/indexes/{name}/text", "console", "The text of a document around a passage", "",
       "DocumentText", "document start end"},
      &ViewRoutes::text);
}

Result<JsonAnswer> ViewRoutes::account(const ClientRequest& request, const std::string&, Deadline) const {
  Json body{{"version", context_.version},
            {"owner", request.caller.owner},
            {"keeps_prompts", context_.keeps_prompts},
            {"key", nullptr}};
  TRY(const auto keys, context_.keys->keys());
  for (const ApiKey& key : keys)
    if (key.id == request.caller.owner)
      body["key"] = {{"name", key.name},
                     {"created_ms", key.created_ms},
                     {"private_indexes", key.private_indexes},
                     {"limits", limits_json(key.limits)}};
  return JsonAnswer{200, std::move(body)};
}

Result<JsonAnswer> ViewRoutes::usage(const ClientRequest& request, const std::string&, Deadline) const {
  TRY(const std::int64_t days, whole_in(request.query, "days", 30, 1, 3'650));
  const std::string by = query_value(request.query, "by").value_or("day");
  UsageWish wish;
  if (by == "model")
    wish.by = UsageWish::By::model;
  else if (by == "section")
    wish.by = UsageWish::By::section;
  else if (by == "day")
    wish.by = UsageWish::By::day;
  else
    return fail(Errc::bad_input, "by is '{}'; use day, model or section", by.substr(0, 40));
  wish.owner = request.caller.owner;
  wish.last_day = day_of(base::utc_ms());
  wish.first_day = wish.last_day - days + 1;
  TRY(const auto sums, context_.keys->usage(wish));
  Json data = Json::array();
  for (const UsageSum& sum : sums)
    data.push_back({{"group", sum.group},
                    {"section", sum.section},
                    {"tokens", sum.tokens},
                    {"requests", sum.requests},
                    {"nano_usd", sum.priced > 0 ? Json(sum.nano_usd) : Json()},
                    {"priced_requests", sum.priced}});
  return JsonAnswer{
      200,
      {{"by", by}, {"first_day", wish.first_day}, {"last_day", wish.last_day}, {"data", std::move(data)}}};
}

Result<JsonAnswer> ViewRoutes::indexes(const ClientRequest& request, const std::string&, Deadline) const {
  TRY(const auto all, documents_store().indexes(request.caller.indexes));
  Json data = Json::array();
  for (const IndexInfo& info : all) {
    Json embedders = Json::array();
    for (const EmbedderInfo& one : info.settings.embedders) embedders.push_back(one.name);
    data.push_back({{"name", info.name},
                    {"documents", info.documents},
                    {"chunks", info.chunks},
                    {"tokens", info.tokens},
                    {"text_bytes", info.text_bytes},
                    {"tokenizer", info.settings.tokenizer},
                    {"chunk_tokens", info.settings.chunk_tokens},
                    {"embedders", std::move(embedders)},
                    {"created_ms", info.created_ms},
                    {"updated_ms", info.updated_ms}});
  }
  return JsonAnswer{200, {{"object", "list"}, {"data", std::move(data)}}};
}

Result<JsonAnswer> ViewRoutes::documents(const ClientRequest& request, const std::string& name,
                                         Deadline) const {
  TRY(const std::int64_t limit, whole_in(request.query, "limit", 100, 1, 1'000));
  TRY(const std::int64_t after,
      whole_in(request.query, "after", 0, 0, std::numeric_limits<std::int64_t>::max()));
  TRY(const IndexInfo info, documents_store().find_index(request.caller.indexes, name));
  TRY(const auto heads, documents_store().documents(info.id, {}, after, static_cast<std::size_t>(limit)));
  Json data = Json::array();
  for (const DocumentHead& head : heads) data.push_back(head_json(head));
  return JsonAnswer{200, {{"object", "list"}, {"total", info.documents}, {"data", std::move(data)}}};
}

Result<JsonAnswer> ViewRoutes::names(const ClientRequest& request, const std::string& name, Deadline) const {
  TRY(const std::int64_t limit, whole_in(request.query, "limit", 20, 1, 1'000));
  const std::string entity = query_value(request.query, "entity").value_or("");
  TRY(const auto loaded, context_.indexes->take(request.caller.indexes, name));
  const auto most = static_cast<std::size_t>(limit);
  if (entity.empty()) {
    TRY(const auto names, loaded->open.index.most_mentioned(most));
    return JsonAnswer{200, names_json(names)};
  }
  TRY(const auto found, library::neighbours_of(loaded->open, entity, most));
  return JsonAnswer{200, neighbours_json(found)};
}

Result<JsonAnswer> ViewRoutes::text(const ClientRequest& request, const std::string& name, Deadline) const {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  TRY(const std::int64_t start, whole_in(request.query, "start", 0, 0, most));
  TRY(const std::int64_t end, whole_in(request.query, "end", 0, 0, most));
  const std::string key = query_value(request.query, "document").value_or("");
  TRY(const IndexInfo info, documents_store().find_index(request.caller.indexes, name));
  TRY(const auto head, documents_store().head(info.id, key));
  if (!head) return fail(Errc::not_found, "the index '{}' has no document '{}'", name, key.substr(0, 200));
  TRY(const DocumentWithVectors found, documents_store().document(head->id));
  const std::string_view text = found.document.text;
  const std::size_t from = character_at(text, in_text(found.document, static_cast<std::uint64_t>(start)));
  const std::size_t to =
      std::max(from, character_at(text, in_text(found.document, static_cast<std::uint64_t>(end))));
  const std::size_t first = character_at(text, from > most_around ? from - most_around : 0),
                    last = character_at(text, to + most_around);
  Json body = head_json(*head);
  body["before"] = text.substr(first, from - first);
  body["passage"] = text.substr(from, to - from);
  body["after"] = text.substr(to, last - to);
  body["is_cut"] = first > 0 || last < text.size();
  return JsonAnswer{200, std::move(body)};
}

}  // namespace plimsoll::gateway
