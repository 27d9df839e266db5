#include "gateway/openai/report_json.hpp"

#include <algorithm>
#include <functional>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/private_words.hpp"
#include "engine/plan/explain.hpp"
#include "engine/plan/plan_tree.hpp"
#include "gateway/openai/check_json.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;
using engine::AnswerReport;
using engine::FoundPassage;
using engine::ReportedPassage;

Json metadata_json(const Metadata& metadata) {
  Json json = Json::object();
  for (const auto& [key, value] : metadata) json[key] = base::parse_json(value);
  return json;
}

// Adds the position of the passage, if known: the pages of a PDF, the lines of a text file. Metadata of the
// document with these names is kept.
void add_place(Json& json, const SelectedPassage& passage) {
  if (passage.page > 0) {
    json.emplace("page", passage.page);
    json.emplace("last_page", passage.last_page);
  }
  if (passage.first_line == 0) return;
  json.emplace("first_line", passage.first_line);
  json.emplace("last_line", passage.last_line);
}

Json passages_json(const AnswerReport& report) {
  Json passages = Json::array();
  for (const auto& [number, found] : report.passages) {
    const SelectedPassage& passage = found->passage;
    Json& json = passages.emplace_back(Json::object());
    json.get_ref<Json::object_t&>().reserve(13);
    json["number"] = number;
    json["document"] = passage.key;
    json["start"] = passage.source.start;
    json["end"] = passage.source.end;
    add_place(json, passage);
    json["path"] = passage.path;
    json["tokens"] = passage.tokens;
    json["score"] = passage.score;
    json["reason"] = passage.reason;
    json["text"] = passage.text;
    if (report.is_document_chat) json["metadata"] = metadata_json(found->metadata);
  }
  return passages;
}

// Lists the memories in the prompt, so that clients can rate them.
Json memories_json(const std::vector<engine::ReportedMemory>& reported) {
  Json memories = Json::array();
  for (const auto& [one, tokens] : reported)
    memories.push_back({{"id", one->recalled.fact.id},
                        {"provider", one->provider.empty() ? Json() : Json(one->provider)},
                        {"text", one->recalled.fact.text},
                        {"importance", one->recalled.fact.importance},
                        {"trust", one->recalled.fact.trust},
                        {"score", one->recalled.score},
                        {"tokens", tokens}});
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
    if (before != nullptr && engine::are_neighbours(*before, piece) && before->reason == piece.reason) {
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

// Older turns that were found for the question.
Json recalled_json(const Plan& plan) {
  Json turns = Json::array();
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.is_recalled) turns.push_back({{"id", piece.id}, {"tokens", piece.tokens}});
  return turns;
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

}  // namespace

Json source_nodes(const AnswerReport& report) {
  if (report.passages.empty()) return nullptr;
  std::vector<ReportedPassage> nearest_first = report.passages;
  std::ranges::stable_sort(nearest_first, {},
                           [](const ReportedPassage& passage) { return passage.found->distance; });
  Json nodes = Json::array();
  for (const ReportedPassage& reported : nearest_first) {
    const SelectedPassage& passage = reported.found->passage;
    // Field by field: a braced list would first make an array of each pair, and there are many nodes.
    Json& node = nodes.emplace_back(Json::object());
    node.get_ref<Json::object_t&>().reserve(8);
    node["doc_id"] = passage.key;
    node["node_id"] = fmt::format("{}:{}-{}", passage.key, passage.span.start, passage.span.end);
    node["text"] = passage.text;
    node["score"] = reported.found->distance;
    for (const char* none : {"dense_score", "sparse_score", "source"}) node[none] = nullptr;
    node["metadata"] = metadata_json(reported.found->metadata);
    add_place(node["metadata"], passage);
  }
  return nodes;
}

Json report_json(const AnswerReport& report) {
  const Trace& trace = report.trace;
  const Plan& plan = report.plan;
  Json json{{"trace", trace.id},
            {"model", trace.model},
            {"upstream", base::for_clients(trace.upstream)},
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
    json["fallback"] = {{"from", plan.fallback.from},
                        {"to", base::for_clients(plan.fallback.to)},
                        {"reason", base::for_clients(plan.fallback.reason)}};
  if (plan.summary) json["summary"] = summary_json(*plan.summary);
  if (Json recalled = recalled_json(plan); !recalled.empty()) json["recalled"] = std::move(recalled);
  if (!trace.index.empty()) {
    json["index"] = trace.index;
    json["strategy"] = name_of(plan.strategy.strategy);
    json["passages"] = passages_json(report);
    if (!report.without_documents.empty())
      json["without_documents"] = base::for_clients(report.without_documents);
    if (!report.nothing_near.empty()) json["nothing_near"] = report.nothing_near;
    if (report.retrieval) json["context_window_optimization"] = engine::retrieval_json(*report.retrieval);
  }
  if (report.check != nullptr)
    json["check"] =
        check_json(report.check->answer, report.check->checked, report.check->numbers, "passages");
  if (report.memories) json["memories"] = memories_json(*report.memories);
  Json warnings = Json::array();
  for (const auto& some : {std::cref(plan.warnings), std::cref(trace.warnings)})
    for (const std::string& warning : some.get()) warnings.push_back(base::for_clients(warning));
  if (!warnings.empty()) json["warnings"] = std::move(warnings);
  if (report.explain) {
    Json& whole = json["plan"] = engine::plan_tree(plan);
    base::hide_from_clients(whole);
  }
  return json;
}

std::string report_fields(const AnswerReport& report) {
  std::string fields;
  if (report.names_index) {
    fields = "\"source_nodes\":";
    base::append_json(fields, source_nodes(report));
    fields += ',';
  }
  fields += "\"plimsoll\":";
  base::append_json(fields, report_json(report));
  return fields;
}

}  // namespace plimsoll::gateway
