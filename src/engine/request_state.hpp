// All that belongs to one request, from its first byte to its trace. Nothing of it is shared with another.
#pragma once

#include <optional>
#include <string>

#include "engine/answer.hpp"
#include "engine/evidence/consult.hpp"
#include "engine/evidence/document_chat.hpp"
#include "engine/evidence/grounded.hpp"
#include "engine/plan/parts.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

// Why a request is planned once more.
enum class Replan : std::uint8_t {
  history_too_long,       // F1: a summary can replace old turns
  without_learned,        // it does not fit only because of what earlier replies taught
  server_renders_longer,  // than it was counted
  overflow,               // the server refused the prompt as too long
  prompt_cut,             // and can be asked for a larger window
  server_down,            // and another model takes over
};
std::string_view name_of(Replan why);

using Again = std::optional<Replan>;  // none: the step is done

constexpr int most_sent = 3;  // the first, and one each after an overflow, a cut or a server that is down

// The model whose server did not answer, where another one stands in for it.
struct StandIn {
  std::string from;
  Tokens from_window = 0;
  std::string reason;
  std::vector<models::ModelLocation> tried{};  // that failed, or whose window turned out too small
};

struct RequestState {
  RequestState(Ask asked, std::string trace_id);
  RequestState(const RequestState&) = delete;
  RequestState& operator=(const RequestState&) = delete;

  const Deadline::Clock::time_point begun = Deadline::Clock::now();
  const Ask ask;
  Trace trace;

  // What the client wants; read once.
  RequestParts parts;  // views ask.body
  std::string packed;  // parts.body as text while the upstream has the request; empty: it is not packed
  std::string model;   // without the index of a virtual one
  bool stream = false;
  bool wants_usage = false;  // in a stream
  bool names_index = false;  // also where it is passed on without documents

  // The last plan.
  int plans = 0;
  int sent = 0;
  std::optional<Findings> findings;
  std::optional<RetrievalChoice> retrieval;  // where rule B1 decides
  std::vector<FoundPassage> passages;
  std::size_t defused_in_passages = 0;  // spellings of special tokens
  std::string without_documents;        // why, where an index was named and no passage of it is in the plan
  std::string nothing_near;          // a sentence, where the passages in the plan are not near the question
  std::optional<Recalled> recalled;  // where memories were wanted
  std::optional<AnswerCheck> check;  // where it was wanted, and there are passages
  Plan plan;
  models::ModelLocation location;
  std::string body;             // what goes out, where that is not ask.body
  bool hides_usage = false;     // we asked for it, the client did not
  Tokens rendered_longer = 0;   // what the server's rendering takes more than ours
  bool raised = false;          // the window was raised after a cut
  int compressions = 0;         // of history, that were tried
  Tokens summary_used = 0;      // read and written by the model that wrote a summary
  std::size_t asked_bytes = 0;  // of the request as it came
  Tokens allowed_answer = 0;    // that all answers together may have, thinking included; 0: not known
  Tokens streamed = 0;          // of an answer, about, as far as it has come
  std::optional<StandIn> stand_in{};
  // What the server named when it refused this request; and whether plans follow what earlier replies taught.
  std::optional<std::pair<models::ModelLocation, Tokens>> told_window{};
  bool with_learned = true;
  bool is_turned_away = false;             // by the owner's limits
  bool left = false;                       // the client went away while the upstream was at it
  std::shared_ptr<const void> reserved{};  // of the owner's limits, for the last plan

  std::string_view outgoing() const {
    return body.empty() ? std::string_view(ask.body) : std::string_view(body);
  }
  // What the plan takes of the window.
  Tokens needs() const { return trace.input + trace.thinking + trace.answer + trace.margin; }
  // Whether the client is told more than the upstream says.
  bool is_annotated() const {
    return trace.changed || parts.wishes.explain || parts.wishes.check || names_index || trace.cut > 0;
  }
  std::int64_t microseconds() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begun).count();
  }
};

// What the request says, and which model answers it. To be called once, first.
Result<void> read_request(Engine& engine, RequestState& state);
// Whether memories are wanted, or the request has data in which special tokens are made harmless.
bool has_additions(const Engine& engine, const RequestState& state);
// Memories and harmless data for what was read. To be called once; blocks where memories are wanted.
Result<void> gather_additions(Engine& engine, RequestState& state, Deadline deadline);
// Count, window, strategy, retrieve, budget, render: the plan for the request, and what is sent by it.
// Blocks where documents are searched or a window has to be asked for.
Result<Again> plan_request(Engine& engine, RequestState& state, Deadline deadline);
// A parsed request takes up to 17 times its bytes. A large one is kept as text while an upstream has it, and
// parsed again where another plan is made.
bool should_pack(const RequestState& state);
void pack(RequestState& state);
void unpack(RequestState& state);
// Whether that costs no more than a few bytes would.
bool is_quickly_planned(const Engine& engine, const RequestState& state);

// A part of it: chooses passages for what the negotiator grants them. A selection for all the room first, and
// where that does not go in whole, one that is made for the grant.
Result<Again> plan_with_documents(Engine& engine, RequestState& state, const PlanOptions& options,
                                  const PlanModels& models, Deadline deadline);

// A wait that has ended for this reason ends with an error, and no later one does: who goes on asks first.
Awaitable<bool> client_is_gone();

// A timeout as a client is told of it: where the whole request was late, with the time that it had, else with
// the setting that sets the patience. Other errors stay as they are.
Error explain_late(const RequestState& state, Deadline deadline, Error error, std::string_view setting);

// Sets aside what the plan takes of the owner's limits, in the place of what the plan before it took. The
// answer of a request that names no limit is limited to what was to be had.
std::optional<Refusal> reserve(Engine& engine, RequestState& state);

// Sends it, again where nothing came back and that may help.
Awaitable<Result<std::unique_ptr<UpstreamReply>>> dispatch(Engine& engine, WorkerContext& worker,
                                                           RequestState& state, Deadline deadline);

// Returns a server's error as this client is to get it.
Error failure_of(const Engine& engine, const RequestState& state, Error error);

// Hands the reply on, and compares its usage with the plan. `Again`: nothing went out, and the request
// should be planned once more.
Awaitable<Result<Again>> relay(Engine& engine, RequestState& state, UpstreamReply& reply, AnswerSink& client,
                               Deadline deadline);

// Which of the passages that were found went along, by place.
std::vector<std::size_t> passages_in_plan(const RequestState& state);

// Whether what an upstream said may be words of the request itself, as it came or as it went out, or of
// something else that was sent.
bool repeats_request(const RequestState& state, std::string_view said, std::string_view sent = {});
// Whether the request, as it came or as it went out, has these words in it, in capital letters or small ones.
bool holds_words(const RequestState& state, const std::vector<std::string>& words);
// What it said, for the log and the trace: servers that check the form of a request repeat parts of it, which
// are not kept unless prompts are.
std::string for_the_record(const Engine& engine, const RequestState& state, std::string said,
                           std::string_view sent = {});

// Fills in the trace, and keeps it.
void close_request(Engine& engine, RequestState& state, const Result<void>& outcome);

}  // namespace plimsoll::engine
