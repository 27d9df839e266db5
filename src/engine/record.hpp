// Fills in the trace of a request from the values of its stages, and closes it.
#pragma once

#include "engine/stages.hpp"

namespace plimsoll::engine {

// What a request has used besides what its trace says.
struct Spent {
  Tokens summary = 0;           // read and written by models that wrote summaries
  Tokens summary_settled = 0;   // of that, already charged to the owner's limits
  Tokens allowed_answer = 0;    // that all answers together may have, thinking included; 0: not known
  Tokens streamed = 0;          // of an answer, about, as far as it came
  bool left = false;            // the client disconnected while the upstream had the request
  bool is_turned_away = false;  // by the owner's limits
  std::shared_ptr<HeldShare> reserved{};  // of these limits
};

Trace begun_trace(const Received& received);
void record(const chat::ChatRequest& chat, const Received& received, Trace& trace);
void record(const Request& request, Trace& trace);
void record(const Planned& planned, Trace& trace);
void record(const Notes& notes, Trace& trace, Spent& spent);

// Everything that is known of a request when it ends.
struct Ended {
  const Received& received;
  const Planned& planned;  // the last plan
  const std::optional<Recalled>& recalled;
  Trace trace;
  Spent spent;
};
// Counts and charges what it used, and keeps its trace.
void close_request(Engine& engine, Ended ended, const Result<void>& outcome);

}  // namespace plimsoll::engine
