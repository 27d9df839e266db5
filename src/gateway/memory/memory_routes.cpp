#include "gateway/memory/memory_routes.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <span>

#include <fmt/ranges.h>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/api.hpp"
#include "gateway/http/target.hpp"
#include "gateway/memory/memory_json.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::int64_t usual_limit = 20, most_limit = 1'000;
constexpr std::size_t longest_query = 100'000;

Result<Json> read_body(const std::string& body, std::span<const std::string_view> known) {
  TRY_VOID(base::check_json_shape(body, "the request"));
  Json json = base::parse_json(body);
  if (!json.is_object()) return fail(Errc::bad_input, "the request body is not a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto near = base::nearest(key, known);
    return fail(Errc::bad_input, "a memory has no field '{}'; {}", key.substr(0, 60),
                near ? fmt::format("did you mean '{}'?", *near)
                     : fmt::format("known fields: {}", fmt::join(known, ", ")));
  }
  return json;
}

Result<std::string> text_in(const Json& body, const char* key, std::string otherwise) {
  const auto found = body.find(key);
  if (found == body.end() || found->is_null()) return otherwise;
  if (!found->is_string()) return fail(Errc::bad_input, "{} is not a string", key);
  return found->get<std::string>();
}

Result<std::optional<double>> number_in(const Json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || found->is_null()) return std::nullopt;
  if (!found->is_number()) return fail(Errc::bad_input, "{} is not a number from 0 to 1", key);
  return found->get<double>();
}

Result<std::size_t> limit_in(std::string_view query) {
  const auto given = query_value(query, "limit");
  if (!given) return static_cast<std::size_t>(usual_limit);
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), limit);
  if (error != std::errc() || end != given->data() + given->size() || limit < 1 || limit > most_limit)
    return fail(Errc::bad_input, "limit is '{}', not a whole number from 1 to {}", given->substr(0, 40),
                base::with_thousands(most_limit));
  return static_cast<std::size_t>(limit);
}

}  // namespace

void MemoryRoutes::add_routes(Router& router) const {
  if (memories_ == nullptr) return;
  using Method = Result<Answer> (MemoryRoutes::*)(const ClientRequest&, const std::string&, Deadline) const;
  const auto add = [&](RouteAbout about, Method handler) {
    router.add({about, on_worker(Fallible(std::bind_front(handler, this)))});
  };
  add({"POST", "/v1/memories", "memory", "Store a memory", "NewMemory", "Memory"}, &MemoryRoutes::add);
  add({"GET", "/v1/memories", "memory", "List or search memories", "", "Memories", "query session many"},
      &MemoryRoutes::list);
  add({"GET", "/v1/memories/{id}", "memory", "Get a memory with its ratings", "", "Memory"},
      &MemoryRoutes::show);
  add({"DELETE", "/v1/memories/{id}", "memory", "Delete a memory, also from traces"}, &MemoryRoutes::forget);
  add({"POST", "/v1/memories/{id}/feedback", "memory", "Rate a memory, which changes its trust",
       "MemoryFeedback", "Memory"},
      &MemoryRoutes::feedback);
}

Result<MemoryRoutes::Answer> MemoryRoutes::add(const ClientRequest& request, const std::string&,
                                               Deadline deadline) const {
  constexpr std::string_view known[] = {"text", "session", "importance", "trust", "source"};
  TRY(const Json body, read_body(request.body, known));
  if (!body.contains("text")) return fail(Errc::bad_input, "text is missing: give the fact to remember");
  engine::NewFact fact;
  TRY(fact.text, text_in(body, "text", {}));
  TRY(fact.session, text_in(body, "session", {}));
  TRY(fact.source, text_in(body, "source", fact.source));
  TRY(fact.importance, number_in(body, "importance"));
  TRY(fact.trust, number_in(body, "trust"));
  TRY(const auto added, memories_->add(request.caller.owner, fact, deadline));
  return Answer{added.is_new ? 201 : 200, memory_json(added)};
}

Result<MemoryRoutes::Answer> MemoryRoutes::list(const ClientRequest& request, const std::string&,
                                                Deadline deadline) const {
  TRY(const std::size_t limit, limit_in(request.query));
  FactScope scope{request.caller.owner};
  scope.session = query_value(request.query, "session");
  const auto query = query_value(request.query, "query");
  Json body{{"object", "list"}};
  if (query && !base::trim(*query).empty()) {
    if (query->size() > longest_query)
      return fail(Errc::bad_input, "the query has {} bytes; at most {} are allowed",
                  base::with_thousands(std::ssize(*query)),
                  base::with_thousands(static_cast<std::int64_t>(longest_query)));
    TRY(const auto found, memories_->search(scope, *query, limit, deadline));
    body.update(memory_json(found));
  } else {
    TRY(const auto facts, memories_->list(scope, limit));
    body.update(memory_json(facts));
  }
  return Answer{200, std::move(body)};
}

Result<MemoryRoutes::Answer> MemoryRoutes::show(const ClientRequest& request, const std::string& id,
                                                Deadline) const {
  TRY(const auto shown, memories_->show(request.caller.owner, id));
  return Answer{200, memory_json(shown)};
}

Result<MemoryRoutes::Answer> MemoryRoutes::forget(const ClientRequest& request, const std::string& id,
                                                  Deadline) const {
  TRY(const auto forgotten, memories_->forget(request.caller.owner, id));
  Json body{{"deleted", id}};
  body.update(memory_json(forgotten));
  return Answer{200, std::move(body)};
}

Result<MemoryRoutes::Answer> MemoryRoutes::feedback(const ClientRequest& request, const std::string& id,
                                                    Deadline) const {
  constexpr std::string_view known[] = {"helpful"};
  TRY(const Json body, read_body(request.body, known));
  if (!body.contains("helpful") || !body["helpful"].is_boolean())
    return fail(Errc::bad_input, "helpful must be true or false");
  TRY_VOID(memories_->feedback(request.caller.owner, id, body["helpful"].get<bool>()));
  return show(request, id, Deadline::after({}));
}

}  // namespace plimsoll::gateway
