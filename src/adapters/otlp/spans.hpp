// OpenTelemetry's spans of a request, in the JSON form of OTLP, with the names of its conventions for
// generative AI.
#pragma once

#include <span>
#include <string>

#include "plimsoll/chat.hpp"
#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::otlp {

// Returns a span for the request and one for each attempt to answer it, separated by commas. `operation`:
// what was asked for, "chat" or another word of the conventions. Words of clients and servers are in it only
// where `with_words` is set: prompts, passages, errors and warnings.
std::string spans_of(const Trace& trace, const Plan& plan, RequestKind kind, bool with_words);

// Who sends the spans.
struct SpanSource {
  std::string version;   // of the program
  std::string instance;  // of this process
};
// Returns the body of a request to a collector. Each batch is what spans_of returned.
std::string spans_request(const SpanSource& source, std::span<const std::string> batches);

}  // namespace plimsoll::otlp
