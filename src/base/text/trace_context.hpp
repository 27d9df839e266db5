// W3C Trace Context: the headers that join the traces of several programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/http.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::base {

// Reads the values of `traceparent` and `tracestate`; several of the same name are joined by commas. A
// context without ids if `traceparent` is not well-formed; one without a state if only `tracestate` is not.
TraceContext read_trace_context(std::string_view parent, std::string_view state);

// Returns the value of `traceparent`. The context must be known.
std::string traceparent(const TraceContext& context);

// Adds the headers of a context that is known.
void add_trace_headers(std::vector<HttpHeader>& headers, const TraceContext& context);

std::string new_trace_id();
std::string new_span_id();

// Whether a request that no client decided about is among the `share`, from 0 to 1, of those that are traced:
// the same for the same trace in every gateway.
bool is_in_share(std::string_view trace_id, double share);

}  // namespace plimsoll::base
