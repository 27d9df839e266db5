#include "gateway/memory/memory_json.hpp"

namespace plimsoll::gateway {

Json memory_json(const Fact& fact) {
  return {{"id", fact.id},
          {"text", fact.text},
          {"session", fact.session.empty() ? Json() : Json(fact.session)},
          {"importance", fact.importance},
          {"trust", fact.trust},
          {"created_ms", fact.created_ms},
          {"updated_ms", fact.updated_ms},
          {"source", fact.source}};
}

Json memory_json(const FactFeedback& feedback) {
  return {{"helpful", feedback.helpful}, {"at_ms", feedback.at_ms}, {"trust", feedback.trust}};
}

Json memory_json(const engine::AddedFact& added) {
  Json json = memory_json(added.fact);
  json["is_new"] = added.is_new;
  if (!added.note.empty()) json["note"] = added.note;
  return json;
}

Json memory_json(const engine::FactWithHistory& shown) {
  Json json = memory_json(shown.fact);
  json["feedback"] = Json::array();
  for (const FactFeedback& one : shown.history) json["feedback"].push_back(memory_json(one));
  return json;
}

Json memory_json(const memory::OwnSearch& found) {
  Json list = Json::array();
  for (const RecalledFact& one : found.facts) {
    list.push_back(memory_json(one.fact));
    list.back()["score"] = one.score;
  }
  return {{"data", std::move(list)}, {"notes", found.notes}};
}

Json memory_json(const std::vector<Fact>& facts) {
  Json list = Json::array();
  for (const Fact& fact : facts) list.push_back(memory_json(fact));
  return {{"data", std::move(list)}};
}

Json memory_json(const Forgotten& forgotten) {
  return {{"forgotten", forgotten.facts}, {"traces", forgotten.traces}, {"purged", forgotten.purged}};
}

}  // namespace plimsoll::gateway
