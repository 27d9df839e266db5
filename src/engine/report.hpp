// What a client is told about its request besides the answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evidence/consult.hpp"
#include "engine/evidence/document_chat.hpp"
#include "engine/evidence/grounded.hpp"
#include "engine/evidence/recall.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct Sendable;

// A passage in the prompt.
struct ReportedPassage {
  std::size_t number = 0;  // as in the prompt
  const FoundPassage* found = nullptr;
};

// A memory in the prompt.
struct ReportedMemory {
  const memory::GatheredFact* fact = nullptr;
  Tokens tokens = 0;
};

// Refers to the request that it reports about.
struct AnswerReport {
  const Trace& trace;
  const Plan& plan;
  bool names_index = false;       // also if it was not searched
  bool explain = false;           // the client wants the whole plan
  bool is_document_chat = false;  // passages are shown with their documents' metadata
  std::string_view rewritten{};   // the question as a model rewrote it for the search; empty: not rewritten
  std::vector<ReportedPassage> passages{};
  std::optional<std::vector<ReportedMemory>> memories{};  // none: none were looked for
  std::string without_documents{};  // why no passage is in the prompt although an index was named
  std::string nothing_near{};       // set if the passages are not near the question
  std::optional<RetrievalChoice> retrieval{};
  const AnswerCheck* check = nullptr;  // null: the answer was not checked

  // Returns whether it is too long to be written on a thread that others wait for.
  bool is_long() const {
    constexpr std::size_t most_pieces = 100;  // of about 300 bytes
    return explain && plan.pieces.size() > most_pieces;
  }
};

// `check`: null if the answer was not checked. All arguments must outlive the report.
AnswerReport report_of(const Sendable& one, const Trace& trace, const AnswerCheck* check);

}  // namespace plimsoll::engine
