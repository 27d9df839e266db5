// Evaluations: several questions to one collection, answered one after the other in the background (C3).
#pragma once

#include <atomic>
#include <set>
#include <thread>

#include "gateway/auth/gate.hpp"
#include "gateway/chat/chat_read.hpp"
#include "gateway/http/held_answer.hpp"
#include "gateway/http/server_thread.hpp"
#include "gateway/limits/fair_share.hpp"

namespace plimsoll::gateway {

struct EvaluationRules {
  std::size_t runs = 8;  // at once
  std::chrono::milliseconds per_question{300'000};
  std::int64_t kept = 1'000;  // runs of one owner
  // Returns why the owner may not send a request now; null: no limits.
  std::function<std::optional<Refusal>(const std::string& owner)> refuses{};
};

struct EvaluationAsk {
  EvaluationQuestions asked;
  engine::Caller caller;
  std::string index;
  std::int64_t top_k = 10;
};

// Has its own thread for upstreams, and threads for planning and writing. Engine and store must outlive it.
class Evaluations {
 public:
  Evaluations(engine::Engine& engine, SessionStore& store, ThreadMaker maker, EvaluationRules rules);
  Evaluations(const Evaluations&) = delete;
  Evaluations& operator=(const Evaluations&) = delete;
  // Interrupts running evaluations and marks them.
  ~Evaluations();

  // Returns the run's id; empty: too many runs, in total or of the owner. Blocks until the run is on disk.
  Result<std::string> start(EvaluationAsk ask);
  const EvaluationRules& rules() const { return rules_; }
  bool are_under_way() const { return running_.taken() > 0; }

 private:
  struct Work {
    Work(ServerThread& on, std::string run, EvaluationAsk asked)
        : id(std::move(run)), ask(std::move(asked)), thread(on, Lane::interactive, ask.caller.owner) {}
    std::string id;
    EvaluationAsk ask;
    OwnerThread thread;
    boost::asio::cancellation_signal stop{};
  };
  Awaitable<void> run(std::shared_ptr<Work> work);
  // Waits for a limit, at most as long as a question may take; returns a refusal if it would take longer.
  Awaitable<std::optional<Refusal>> may_ask(Work& work);
  // Asks one question; waits for limits, at most as long as a question may take.
  Awaitable<Json> ask_one(Work& work, const std::string& question);
  Awaitable<Json> ask_once(Work& work, const std::string& question, HeldAnswer& held, Deadline deadline);
  void spawn(const std::shared_ptr<Work>& work);

  engine::Engine& engine_;
  SessionStore& store_;
  ThreadMaker maker_;
  EvaluationRules rules_;
  Places running_{rules_.runs};
  std::atomic<bool> stopping_ = false;
  // A run does one thing at a time, so no run waits for another one's server.
  WorkerPool workers_{{.threads = rules_.runs, .per_owner = rules_.runs, .is_background = true}};
  ServerThread server_thread_{maker_, workers_};
  std::set<std::shared_ptr<Work>> works_;  // used only by the loop's thread
  std::thread thread_;                     // last: starts after all other members exist
};

// Returns a run of a list for clients, without its answers: {run_id, status, collection_id, done, ...}
Json evaluation_json(const RunInfo& run);
// Returns a run for clients: {run_id, status, answered, failed, results, ...}
Json evaluation_json(const Run& run);

}  // namespace plimsoll::gateway
