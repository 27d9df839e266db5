#include "engine/annotate.hpp"

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/private_words.hpp"
#include "engine/plan/explain.hpp"
#include "engine/reply.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

Json metadata_json(const Metadata& metadata) {
  Json json = Json::object();
  for (const auto& [key, value] : metadata) json[key] = base::parse_json(value);
  return json;
}

// Adds the position of the passage, if known: the page of a PDF, the lines of a text file. Metadata of the
// document with these names is kept.
void add_place(Json& json, const SelectedPassage& passage) {
  if (passage.page > 0) json.emplace("page", passage.page);
  if (passage.first_line == 0) return;
  json.emplace("first_line", passage.first_line);
  json.emplace("last_line", passage.last_line);
}

Json source_nodes(const RequestState& state) {
  std::vector<const FoundPassage*> kept;
  for (const std::size_t place : passages_in_plan(state)) kept.push_back(&state.passages[place]);
  if (kept.empty()) return nullptr;
  std::ranges::stable_sort(kept, {}, [](const FoundPassage* passage) { return passage->distance; });
  Json nodes = Json::array();
  for (const FoundPassage* found : kept) {
    const SelectedPassage& passage = found->passage;
    // Field by field: a braced list would first make an array of each pair, and there are many nodes.
    Json& node = nodes.emplace_back(Json::object());
    node.get_ref<Json::object_t&>().reserve(8);
    node["doc_id"] = passage.key;
    node["node_id"] = fmt::format("{}:{}-{}", passage.key, passage.span.start, passage.span.end);
    node["text"] = passage.text;
    node["score"] = found->distance;
    for (const char* none : {"dense_score", "sparse_score", "source"}) node[none] = nullptr;
    node["metadata"] = metadata_json(found->metadata);
    add_place(node["metadata"], passage);
  }
  return nodes;
}

Json passages_json(const RequestState& state) {
  Json passages = Json::array();
  for (const std::size_t place : passages_in_plan(state)) {
    const FoundPassage& found = state.passages[place];
    const SelectedPassage& passage = found.passage;
    Json& json = passages.emplace_back(Json::object());
    json.get_ref<Json::object_t&>().reserve(13);
    json["number"] = place + 1;  // as in the prompt
    json["document"] = passage.key;
    json["start"] = passage.source.start;
    json["end"] = passage.source.end;
    json["page"] = passage.page;
    add_place(json, passage);
    json["path"] = passage.path;
    json["tokens"] = passage.tokens;
    json["score"] = passage.score;
    json["reason"] = passage.reason;
    json["text"] = passage.text;
    if (!state.ask.documents) continue;
    json["metadata"] = metadata_json(found.metadata);
  }
  return passages;
}

// Lists the memories in the prompt, so that clients can rate them.
Json memories_json(const RequestState& state) {
  Json memories = Json::array();
  const std::size_t at = state.parts.facts.size() - state.recalled->facts.size();
  std::size_t place = 0;
  for (const PlannedPiece& piece : state.plan.pieces) {
    if (piece.section != SectionKind::memory || place == state.parts.facts.size()) continue;
    const std::size_t fact = place++;
    if (fact < at || piece.fate != Fate::kept) continue;
    const memory::GatheredFact& one = state.recalled->facts[fact - at];
    memories.push_back({{"id", one.recalled.fact.id},
                        {"provider", one.provider.empty() ? Json() : Json(one.provider)},
                        {"text", one.recalled.fact.text},
                        {"importance", one.recalled.fact.importance},
                        {"trust", one.recalled.fact.trust},
                        {"score", one.recalled.score},
                        {"tokens", piece.tokens}});
  }
  return memories;
}

// Joins neighbours with the same reason.
Json left_out(const Plan& plan) {
  Json gone = Json::array();
  const PlannedPiece* before = nullptr;
  for (const PlannedPiece& piece : plan.pieces) {
    if (piece.fate == Fate::kept) {
      before = nullptr;
      continue;
    }
    if (before != nullptr && are_neighbours(*before, piece) && before->reason == piece.reason) {
      gone.back()["last"] = piece.id;
      gone.back()["pieces"] = gone.back()["pieces"].get<std::int64_t>() + 1;
      gone.back()["tokens"] = gone.back()["tokens"].get<Tokens>() + piece.tokens;
    } else {
      gone.push_back({{"section", name_of(piece.section)},
                      {"first", piece.id},
                      {"last", piece.id},
                      {"pieces", 1},
                      {"tokens", piece.tokens},
                      {"reason", piece.reason}});
    }
    before = &piece;
  }
  return gone;
}

Json summary_json(const PlannedSummary& summary) {
  return {{"id", summary.id},
          {"how", summary.how},
          {"known", summary.known},
          {"model", summary.model},
          {"turns", summary.turns},
          {"messages", summary.messages},
          {"replaces", summary.replaces},
          {"tokens_before", summary.before},
          {"tokens_after", summary.after}};
}

Json summary(const RequestState& state) {
  const Trace& trace = state.trace;
  const Plan& plan = state.plan;
  Json json{{"trace", trace.id},
            {"model", trace.model},
            {"upstream", trace.upstream},
            {"window", trace.window},
            {"input_tokens", trace.input},
            {"thinking_tokens", trace.thinking},
            {"answer_tokens", trace.answer},
            {"margin", trace.margin},
            {"exactness", name_of(trace.exactness)},
            {"changed", trace.changed},
            {"left_out", left_out(plan)},
            {"upstream_cut_tokens", trace.cut}};
  if (trace.drift) json["drift"] = *trace.drift;
  if (!plan.fallback.to.empty())
    json["fallback"] = {
        {"from", plan.fallback.from}, {"to", plan.fallback.to}, {"reason", plan.fallback.reason}};
  if (plan.summary) json["summary"] = summary_json(*plan.summary);
  if (!trace.index.empty()) {
    json["index"] = trace.index;
    json["strategy"] = name_of(plan.strategy.strategy);
    json["passages"] = passages_json(state);
    if (!state.without_documents.empty()) json["without_documents"] = state.without_documents;
    if (!state.nothing_near.empty()) json["nothing_near"] = state.nothing_near;
    if (state.retrieval) json["context_window_optimization"] = retrieval_json(*state.retrieval);
  }
  if (state.recalled && (!state.recalled->facts.empty() || state.parts.wishes.memory))
    json["memories"] = memories_json(state);
  Json warnings = plan.warnings;
  for (const std::string& warning : trace.warnings) warnings.push_back(base::for_clients(warning));
  if (!warnings.empty()) json["warnings"] = std::move(warnings);
  if (state.parts.wishes.explain) json["plan"] = base::parse_json(plan_json_line(plan));
  return json;
}

std::string_view type_of(Errc code) {
  const int status = status_of(code);
  if (status == 404) return "not_found_error";
  if (status < 500) return "invalid_request_error";
  return status == 504 ? "timeout_error" : "api_error";
}

std::string_view code_of(const Error& error) {
  switch (error.code) {
    case Errc::over_budget: return "context_length_exceeded";
    case Errc::unknown_model: return "model_not_found";
    default: return name_of(error.code);
  }
}

}  // namespace

int status_of(Errc code) {
  switch (code) {
    case Errc::bad_input:
    case Errc::over_budget:
    case Errc::unsupported: return 400;
    case Errc::not_found:
    case Errc::unknown_model: return 404;
    case Errc::timed_out: return 504;
    case Errc::upstream_failed: return 502;
    case Errc::unreachable: return 503;
    case Errc::unknown_setting:
    case Errc::bad_setting:
    case Errc::damaged:
    case Errc::io_failed: return 500;
  }
  return 500;
}

AnswerHead answer_head(const RequestState& state, const ReplyHead& from) {
  AnswerHead head;
  head.status = from.status;
  if (const std::string_view type = from.header("content-type"); !type.empty()) head.content_type = type;
  for (const HttpHeader& header : from.headers)
    if (header.name == "retry-after" || header.name == "x-request-id" ||
        header.name.starts_with("x-ratelimit-") || header.name.starts_with("openai-") ||
        header.name.starts_with("anthropic-ratelimit-"))
      head.headers.push_back(header);
  const Trace& trace = state.trace;
  head.headers.push_back({"X-Plimsoll-Trace", trace.id});
  head.headers.push_back({"X-Plimsoll-Window", std::to_string(trace.window)});
  head.headers.push_back({"X-Plimsoll-Input-Tokens", std::to_string(trace.input)});
  head.headers.push_back({"X-Plimsoll-Answer-Tokens", std::to_string(trace.answer)});
  head.headers.push_back({"X-Plimsoll-Model", trace.model});
  if (state.names_index)
    head.headers.push_back({"X-Plimsoll-Passages", std::to_string(passages_in_plan(state).size())});
  if (trace.cut > 0) head.headers.push_back({"X-Plimsoll-Upstream-Cut-Tokens", std::to_string(trace.cut)});
  return head;
}

std::string annotation(const RequestState& state) {
  std::string fields;
  if (state.names_index) {
    fields = "\"source_nodes\":";
    base::append_json(fields, source_nodes(state));
    fields += ",";
  }
  fields += "\"plimsoll\":";
  base::append_json(fields, summary(state));
  return fields;
}

Error ragengine_failure(std::string_view said) {
  return {Errc::io_failed,
          fmt::format("Chat completion failed: 500: An unexpected error occurred: {}", said)};
}

std::string said_in_error(std::string_view body) {
  constexpr std::size_t longest = 2'000;  // a server may echo the whole prompt
  const Json json = base::parse_json(body);
  if (json.is_object()) {
    const auto error = json.find("error");
    if (error != json.end() && error->is_string()) return error->get<std::string>().substr(0, longest);
    if (error != json.end() && error->is_object() && error->contains("message") &&
        (*error)["message"].is_string())
      return (*error)["message"].get<std::string>().substr(0, longest);
    for (const char* key : {"detail", "message"})
      if (json.contains(key) && json[key].is_string()) return json[key].get<std::string>().substr(0, longest);
  }
  return std::string(body.substr(0, longest));
}

std::string with_detail(std::string body, std::string_view said) {
  const Json json = base::parse_json(body);
  if (!json.is_object() || json.contains("detail")) return body;
  return with_fields(body, "\"detail\":" + base::json_text(said));
}

std::string error_body(const Error& error) {
  const Json json{{"error",
                   {{"message", error.what},
                    {"type", type_of(error.code)},
                    {"param", nullptr},
                    {"code", code_of(error)}}},
                  {"detail", error.what}};
  return base::json_text(json);
}

std::string refusal_body(const Refusal& refusal) {
  const std::string_view type = refusal.status == 401   ? "authentication_error"
                                : refusal.status == 403 ? "permission_error"
                                                        : "rate_limit_error";
  const Json json{
      {"error", {{"message", refusal.what}, {"type", type}, {"param", nullptr}, {"code", refusal.code}}},
      {"detail", refusal.what}};
  return base::json_text(json);
}

std::vector<HttpHeader> refusal_headers(const Refusal& refusal) {
  std::vector<HttpHeader> headers;
  if (refusal.status == 401) headers.push_back({"WWW-Authenticate", "Bearer"});
  if (refusal.retry_after_seconds > 0)
    headers.push_back({"Retry-After", std::to_string(refusal.retry_after_seconds)});
  // OpenAI's clients would retry at once, which cannot succeed before tomorrow.
  if (refusal.code == "insufficient_quota") headers.push_back({"X-Should-Retry", "false"});
  return headers;
}

std::string error_event(const Error& error) {
  return "data: " + error_body({error.code, base::for_clients(error.what)}) + "\n\n";
}

}  // namespace plimsoll::engine
