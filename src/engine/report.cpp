#include "engine/report.hpp"

#include "engine/stages.hpp"

namespace plimsoll::engine {
namespace {

// Those that were recalled; the request's own facts come first and are not listed.
std::vector<ReportedMemory> memories_of(const Request& request, const Plan& plan) {
  std::vector<ReportedMemory> memories;
  const std::vector<memory::GatheredFact>& recalled = request.recalled->facts;
  const std::size_t facts = request.chat.additions.facts.size(), own = facts - recalled.size();
  std::size_t place = 0;
  for (const PlannedPiece& piece : plan.pieces) {
    if (piece.section != SectionKind::memory || place == facts) continue;
    const std::size_t fact = place++;
    if (fact >= own && piece.fate == Fate::kept) memories.push_back({&recalled[fact - own], piece.tokens});
  }
  return memories;
}

}  // namespace

AnswerReport report_of(const Sendable& one, const Trace& trace, const AnswerCheck* check) {
  const Request& request = one.request;
  const Consulted& documents = one.planned.documents;
  AnswerReport report{.trace = trace, .plan = one.planned.plan};
  report.names_index = request.names_index;
  report.explain = request.chat.wishes.explain;
  report.is_document_chat = one.received.ask.documents.has_value();
  report.rewritten = request.rewritten;
  for (const std::size_t place : passages_in_plan(one.planned))
    report.passages.push_back({place + 1, &documents.passages[place]});
  if (request.recalled && (!request.recalled->facts.empty() || request.chat.wishes.memory))
    report.memories = memories_of(request, one.planned.plan);
  report.without_documents = documents.without_documents;
  report.nothing_near = documents.nothing_near;
  report.retrieval = documents.retrieval;
  report.check = check;
  return report;
}

}  // namespace plimsoll::engine
