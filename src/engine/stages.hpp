// The stages of a request in order, and the values that flow between them. A stage takes the values of the
// stages before it and returns a new one; none of them is changed. `answer` (answer.cpp) calls the stages,
// keeps their values and fills in the trace (record.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chat/chat_request.hpp"
#include "engine/answer.hpp"
#include "engine/evidence/consult.hpp"
#include "engine/evidence/document_chat.hpp"
#include "engine/evidence/grounded.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

// ---- Read ----

// The request as it came. Everything else about it may view its body.
struct Received {
  // `own_span`: in the trace of the client, or in a new one; none: no spans are sent, and the client's
  // context is passed on.
  Received(Ask asked, std::string id, std::optional<TraceContext> own_span = {});
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;

  const Deadline::Clock::time_point begun = Deadline::Clock::now();
  const Ask ask;
  const std::string trace_id;
  const std::int64_t at_ms;  // UTC
  const TraceContext context;
  const bool sends_spans;

  const std::string& owner() const { return ask.caller.owner; }
  bool is_chat() const { return ask.kind == RequestKind::chat; }
  std::int64_t microseconds() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begun).count();
  }
};

// What a stage tells besides its result.
struct Notes {
  std::vector<std::string> warnings{};
  std::int64_t retrieve_us = 0;
  Tokens summary_used = 0;     // read and written by a model that wrote a summary or a question
  Tokens summary_settled = 0;  // of that, already charged to the owner's limits
  Cost summary_cost{};         // of all of it
};

Result<chat::ChatRequest> read_request(const Received& received);

// ---- Route ----

// What is planned. Stages that shorten or extend it take it and return another one.
struct Request {
  chat::ChatRequest chat;              // views Received::ask
  std::string model{};                 // without the index of a virtual one
  bool names_index = false;            // also if it is passed on without documents
  std::string rewritten{};             // the question as rewritten by a model; empty: not rewritten
  std::optional<Recalled> recalled{};  // where memories were wanted
  std::string packed{};                // the body as text, while an upstream has the request
  Notes notes{};                       // of the stage that made it
};

// The requested model, if its server did not answer and another one replaces it.
struct StandIn {
  std::string from;
  Tokens from_window = 0;
  std::string reason;
  std::vector<models::ModelLocation> tried{};  // that failed, or whose window turned out too small
};

constexpr int most_sent = 3;  // requests to upstreams for one of a client, whatever the reasons

// What an attempt to answer is told by those before it. A re-plan brings the next one.
struct Attempt {
  std::string model{};  // that is asked: the requested one, or a stand-in
  models::ModelLocation location{};
  std::optional<StandIn> stand_in{};
  std::shared_ptr<const Findings> found{};  // of the documents, once they were searched
  // The window that the server reported when it refused this request.
  std::optional<std::pair<models::ModelLocation, Tokens>> told_window{};
  bool with_learned = true;       // plans use what earlier replies taught
  bool asked_window = false;      // the server was asked for its window again
  bool raised = false;            // the window was raised after a cut
  Tokens kept_free = 0;           // by which the server's rendering is longer than ours
  int sent = 0;                   // requests to upstreams
  int compressions = 0;           // of history, that were tried
  int recalls = 0;                // searches of the turns that are not sent
  std::size_t recalled_from = 0;  // messages that the last of them looked through

  // A reply that asks for another plan is told to the client instead where this is false.
  bool may_be_sent_again() const { return sent < most_sent; }
};

// Why a request is planned once more, and with what.
struct Replan {
  enum class Reason : std::uint8_t {
    history_too_long,       // F1: a summary can replace old turns
    turns_left_out,         // those that answer the question can be brought back
    without_learned,        // it does not fit only because of what earlier replies taught
    window_doubted,         // it does not fit into a window that the server named a while ago
    server_renders_longer,  // than it was counted, or in another chat format
    overflow,               // the server refused the prompt as too long
    prompt_cut,             // and can be asked for a larger window
    server_down,            // and another model takes over
  };
  Reason why;
  Attempt next;
};
std::string_view name_of(Replan::Reason why);

// Finds the documents and the model that a request names.
Result<Request> resolve(const Engine& engine, const Received& received, chat::ChatRequest chat);
struct Routed {
  Request request;
  Attempt first;
};
Result<Routed> route(const Engine& engine, Request request);

// ---- Gather ----

// Returns whether memories are wanted, or the request has data in which special tokens are escaped.
bool has_additions(const Engine& engine, const Received& received, const Request& request);
// Adds memories and escapes data. Blocks if memories are wanted.
Result<Request> gather_additions(const Engine& engine, const Received& received, Request request,
                                 const Attempt& attempt, Deadline deadline);

// ---- Count, retrieve, plan, render ----

// What a plan takes of the window.
struct Figures {
  Tokens window = 0, input = 0, thinking = 0, answer = 0, margin = 0;
  Exactness exactness = Exactness::exact;

  Tokens needs() const { return input + thinking + answer + margin; }
};

// The documents in a plan.
struct Consulted {
  std::optional<RetrievalChoice> retrieval{};  // where rule B1 decides
  std::vector<FoundPassage> passages{};        // the plan may leave some out
  std::vector<render::Passage> shown{};        // the same, as in the prompt
  std::size_t escaped = 0;                     // special-token strings in them
  std::string without_documents{};             // why no passage is in the prompt
  std::string nothing_near{};                  // set if the passages are not near the question
  std::vector<TraceLeftOut> left_out{};
  std::int64_t left_out_total = 0;
};

// The request for an upstream.
struct Planned {
  Plan plan{};  // empty if the request is not a chat
  Figures figures{};
  Consulted documents{};
  std::optional<Error> refusal{};  // why it cannot be sent
  models::ModelLocation location{};
  std::string model{}, upstream{};  // names for the trace; empty: not chosen
  std::string body{};               // what is sent; empty: the client's own
  bool changed = false;             // something else than the client's request
  bool hides_usage = false;         // we asked for it, the client did not

  std::string_view outgoing(const Received& received) const {
    return body.empty() ? received.ask.body : body;
  }
};

struct PlanStep {
  Planned planned{};
  std::optional<Replan::Reason> again{};    // none: the plan is final
  std::shared_ptr<const Findings> found{};  // for Attempt::found
  Notes notes{};
};

// Counts, retrieves, plans and renders. Blocks if documents are searched or a window has to be asked for.
Result<PlanStep> plan_request(const Engine& engine, const Received& received, const Request& request,
                              const Attempt& attempt, Deadline deadline);
// Returns why a plan is not final: history can be compressed, or turns that it leaves out may be found again.
std::optional<Replan::Reason> replan_due(const Engine& engine, const chat::ChatRequest& chat,
                                         const Attempt& attempt, const Plan& plan);
// Returns whether planning blocks nowhere.
bool is_quickly_planned(const Engine& engine, const Received& received, const Request& request,
                        const Attempt& attempt);
// Plans a chat with documents: passages for all the room first and, if they do not fit, for what the
// negotiator grants them.
Result<PlanStep> plan_with_documents(const Engine& engine, const Received& received, const Request& request,
                                     const Attempt& attempt, chat::Additions with, const PlanOptions& options,
                                     const PlanModels& models, Deadline deadline);
// Counts the input only: requests that are not chats are forwarded.
Result<PlanStep> plan_forwarded(const Engine& engine, const Received& received, const Request& request,
                                const Attempt& attempt, const PlanModels& models);
// Returns the sentence by which clients of OpenAI's API recognise an overflow.
std::string overflow_in_openais_words(Tokens window, Tokens messages, Tokens completion);

// A parsed request takes up to 17 times its bytes. A large one is kept as text while an upstream has it, and
// parsed again if another plan is made.
bool should_pack(const Received& received, const Request& request);
Request pack(Request request);
Request unpack(Request request);

// ---- Reserve ----

// A share of the owner's limits.
struct Reserved {
  Tokens allowed_answer = 0;  // for all answers together, thinking included; 0: not limited
  std::shared_ptr<HeldShare> held{};
  std::optional<Planned> limited{};  // the plan with a shorter answer, if the share is smaller than it
  std::string warning{};             // that says so
};

// Reserves what the plan takes. The answer of a request that names no limit is limited to what is left.
tl::expected<Reserved, Refusal> reserve(const Engine& engine, const Received& received,
                                        const Request& request, const Planned& planned);

// ---- Send ----

// All that is known of a request when it is sent.
struct Sendable {
  const Received& received;
  const Request& request;
  const Attempt& attempt;
  const Planned& planned;

  // Returns whether the client is told more than the upstream says.
  bool is_annotated(Tokens cut = 0) const {
    const chat::RequestWishes& wishes = request.chat.wishes;
    return planned.changed || wishes.explain || wishes.check || request.names_index || cut > 0;
  }
};

// Returns whether the client's own bytes are sent: the server speaks its API, and nothing is changed or told.
bool goes_native(const Engine& engine, const Sendable& one);

struct Sent {
  Result<std::unique_ptr<UpstreamReply>> reply = fail(Errc::unreachable, "not sent");
  std::vector<TraceAttempt> attempts{};  // tries; empty: no server was contacted
  bool left = false;                     // the client disconnected while the upstream had the request
  bool lacks_memory = false;             // it answered, and there was no memory for the answer
};

// Sends it, and again if nothing came back and that may help.
Awaitable<Sent> dispatch(Engine& engine, WorkerContext& worker, const Sendable& one, Deadline deadline);

// ---- Reconcile ----

// What became of a reply.
struct Outcome {
  Result<void> done{};            // the error: the client has no answer, or is gone
  std::optional<Replan> again{};  // nothing went to the client, and the request should be planned again
  Trace trace{};                  // with what was reported
  Tokens streamed = 0;            // of an answer, about, as far as it came
  bool left = false;              // as above
};

// Passes the reply on, and compares its usage with the plan. `trace`: of the request so far.
Awaitable<Outcome> relay(Engine& engine, WorkerContext& worker, const Sendable& one, Trace trace,
                         UpstreamReply& reply, AnswerSink& client, Deadline deadline);

// Returns a server's error as this client is to get it.
Error failure_of(const Engine& engine, const Request& request, Error error);
// Returns an error as a client is told of it. A timeout: with the time of the whole request if that has
// passed, else with the setting that limits the wait. Too little memory for the answer: as unreachable.
Error explain_late(const Received& received, const Planned& planned, Deadline deadline, Error error,
                   std::string_view setting);

// Returns the places of the documents' passages that are sent. `passages`: how many were planned with.
std::vector<std::size_t> passages_in_plan(const Planned& planned);
std::vector<std::size_t> passages_in_plan(const Plan& plan, std::size_t passages);

}  // namespace plimsoll::engine
