// From a client's request to its answer: count, window, strategy, retrieve, budget, render, upstream, ledger.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conversation/summaries.hpp"
#include "conversation/turn_vectors.hpp"
#include "engine/answer_sink.hpp"
#include "engine/caller.hpp"
#include "engine/counters.hpp"
#include "engine/evidence/consult.hpp"
#include "engine/evidence/recall.hpp"
#include "engine/limits.hpp"
#include "engine/traces/trace_feed.hpp"
#include "engine/traces/trace_writer.hpp"
#include "models/breaker.hpp"
#include "models/upstream_models.hpp"
#include "plimsoll/upstream.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::engine {

// A chat with documents (C1): passages by rule B1 and no more of them than `top_k`; the summary tells them
// with their texts.
struct DocumentChat {
  std::int64_t top_k = 10;
};

// The request as the client sent it, in an API other than OpenAI's. It goes out as it is if the server speaks
// the same API and the plan changes nothing.
struct NativeAsk {
  ServerKind server;
  NativeRequest request;
  std::string beyond_a_chat{};  // the first part of it that only such a server knows; empty: none
};

struct Ask {
  RequestKind kind = RequestKind::chat;
  std::string route{};  // by which the client asked, for the trace; empty: OpenAI's of its kind
  std::string body;     // in the form of OpenAI's API, as it came where the client speaks it
  Caller caller{};
  std::optional<Tokens> window_wish{};  // what the client wants the model to be loaded with; plans keep below
  bool in_full = false;                 // the plan with all that it can tell, whatever the request wishes
  std::optional<DocumentChat> documents{};
  std::optional<bool> recall{};  // whether memories come along, where the request says nothing; none: by rule
  std::int64_t at_ms = 0;        // when it came, UTC; 0: now
  bool has_anthropic_fields = false;  // the body may have fields that only Anthropic's API knows
  std::optional<NativeAsk> native{};
};

struct EngineRules {
  PlanOptions plan;
  ConsultRules consult;
  // The share of rule B4 for requests with documents that name none; none: they are negotiated.
  std::optional<double> context_ratio{};
  // What a model is told to do with passages; none: by policy.
  std::optional<std::string> instruction{};
  bool best_last_for_ollama = true;
  bool keep_prompts = false;
  bool ask_for_usage = false;
  bool refuse_inexpressible = true;
  bool compress_history = true;
  bool recall_turns = true;        // turns that do not fit and answer the question are sent with it
  Tokens recalled_tokens = 1'000;  // most of them
  bool rewrite_follow_ups = false;
  std::string summary_model{};  // that writes summaries and questions; empty: the one that is asked
  std::chrono::milliseconds summary_timeout{20'000};
  // An error of a server, as a chat with documents fails by it; null: as it is.
  std::function<Error(std::string_view said)> document_chat_failure{};
  std::size_t max_answer_bytes = std::size_t{64} << 20;
  std::chrono::milliseconds first_byte{300'000};
  std::chrono::milliseconds idle{60'000};
};

// What all threads share.
struct Engine {
  models::UpstreamModels& models;
  library::OpenIndexes* open_indexes = nullptr;  // null: there is no store
  ledger::DriftBook& drift;
  TraceWriter* traces = nullptr;  // null: neither traces nor usage are kept
  models::Breakers& breakers;
  EngineRules rules;
  TraceFeed* feed = nullptr;                          // null: nobody can watch requests
  SpanSink* spans = nullptr;                          // null: no collector is told of requests
  conversation::Summaries* summaries = nullptr;       // null: history is not compressed
  SessionStore* sessions = nullptr;                   // knows when turns were said; null: nobody does
  conversation::TurnVectors* turn_vectors = nullptr;  // null: older turns are found by words alone
  Counters counters{};
  // Told what each answer has used, at once and on any thread; null: nobody wants to know.
  std::function<void(const std::string& owner, Tokens tokens)> charge{};
  // Asked before each request is sent; null: nobody has limits. What it reserved is charged through the
  // share.
  Reserve reserve{};
  bool reserve_waits = false;      // for a server: never on a thread that others wait for
  const Recall* recall = nullptr;  // null: there are no memories
  // Told what is begun beside the answer itself and may take long; null: nobody wants to know.
  std::function<void(std::string_view what)> tell_step{};
  std::function<models::Breakers::Clock::time_point()> now = models::Breakers::Clock::now;
};

// What one thread has to itself.
class WorkerContext : public RequestResources {
 public:
  virtual UpstreamLink& link(std::size_t member) = 0;
  // The same for work that waits for servers, so that it holds up no plan.
  virtual Awaitable<void> wait_elsewhere(std::function<void()> work) { return elsewhere(std::move(work)); }
  virtual Awaitable<void> pause(std::chrono::milliseconds time) = 0;
  // Waits until there is memory for the parsed request. unreachable: not before the deadline.
  virtual Awaitable<Result<void>> begin_plan(Deadline /*deadline*/) { co_return Result<void>(); }
  // The request is kept as text from now on.
  virtual void end_plan() {}
};

// An error only where nothing went to the client yet; whatever happened is in the trace, which is kept. The
// id of the trace is in `trace_id` from the start.
Awaitable<Result<void>> answer(Engine& engine, WorkerContext& worker, Ask ask, AnswerSink& client,
                               Deadline deadline, std::string& trace_id);

// The plan that `answer` would go by, without asking a model.
Awaitable<Result<Plan>> plan_only(Engine& engine, WorkerContext& worker, Ask ask, Deadline deadline);

// A prompt as the model reads it, by its chat template.
struct ShownPrompt {
  std::string text{};     // or its beginning
  std::string end{};      // if the middle of a long one is left out
  std::size_t bytes = 0;  // of all of it; 0: it is not known
  std::string format{};   // name of the template
  Exactness exactness = Exactness::exact;
  std::string why{};  // why it is not known, or not exact
};
struct PlanWithPrompt {
  Plan plan;
  ShownPrompt prompt;
};
Awaitable<Result<PlanWithPrompt>> plan_with_prompt(Engine& engine, WorkerContext& worker, Ask ask,
                                                   Deadline deadline);

// Asks the server for the window of a model if it is not known yet, so that no plan waits for that.
Awaitable<void> find_window(const Engine& engine, WorkerContext& worker, models::ModelLocation location,
                            Deadline deadline);

// Counts what somebody has used without a plan: texts that were embedded here.
void charge_texts(Engine& engine, const Caller& caller, const std::string& route, const std::string& model,
                  Tokens tokens, HeldShare* held = nullptr);

}  // namespace plimsoll::engine
