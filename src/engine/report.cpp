#include "engine/report.hpp"

#include "engine/request_state.hpp"

namespace plimsoll::engine {
namespace {

// Those that were recalled; the request's own facts come first and are not listed.
std::vector<ReportedMemory> memories_of(const RequestState& state) {
  std::vector<ReportedMemory> memories;
  const std::size_t at = state.parts.facts.size() - state.recalled->facts.size();
  std::size_t place = 0;
  for (const PlannedPiece& piece : state.plan.pieces) {
    if (piece.section != SectionKind::memory || place == state.parts.facts.size()) continue;
    const std::size_t fact = place++;
    if (fact >= at && piece.fate == Fate::kept)
      memories.push_back({&state.recalled->facts[fact - at], piece.tokens});
  }
  return memories;
}

}  // namespace

AnswerReport report_of(const RequestState& state) {
  AnswerReport report{.trace = state.trace, .plan = state.plan};
  report.names_index = state.names_index;
  report.explain = state.parts.wishes.explain;
  report.is_document_chat = state.ask.documents.has_value();
  for (const std::size_t place : passages_in_plan(state))
    report.passages.push_back({place + 1, &state.passages[place]});
  if (state.recalled && (!state.recalled->facts.empty() || state.parts.wishes.memory))
    report.memories = memories_of(state);
  report.without_documents = state.without_documents;
  report.nothing_near = state.nothing_near;
  report.retrieval = state.retrieval;
  if (state.check) report.check = &*state.check;
  return report;
}

}  // namespace plimsoll::engine
