// Extracts facts from conversations: after an answer, the model is asked in the background which facts to
// remember. Only with the setting extract_memories.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/evidence/memories.hpp"
#include "gateway/http/server_thread.hpp"
#include "gateway/limits/fair_share.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::gateway {

// A question and its answer.
struct RequestState {
  engine::Caller caller;
  std::string model;
  std::string session;  // extracted facts belong only to it
  std::string question, answer;
  std::string trace;  // id of the turn's trace
};

// Reads the facts in a model's answer: a JSON list of strings, or of objects with `text` and `importance`,
// with or without text around it. Empty if there is no such list.
std::vector<engine::NewFact> read_facts(std::string_view answer);

// Has its own thread for upstreams, and threads for planning and writing. All arguments must outlive it.
class Extraction {
 public:
  Extraction(engine::Engine& engine, engine::Memories& memories, SessionStore& sessions, ThreadMaker maker);
  Extraction(const Extraction&) = delete;
  Extraction& operator=(const Extraction&) = delete;
  // Cancels running work.
  ~Extraction();

  // Returns at once. If too many wait, in total or of the owner, it is skipped and logged.
  void consider(RequestState said);

  static constexpr std::size_t most_waiting = 16;

 private:
  struct Work {
    RequestState said;
    boost::asio::cancellation_signal stop{};
  };
  void spawn(const std::shared_ptr<Work>& work);
  Awaitable<void> learn(std::shared_ptr<Work> work);
  void keep(const RequestState& said, std::vector<engine::NewFact> facts);

  engine::Engine& engine_;
  engine::Memories& memories_;
  SessionStore& sessions_;
  ThreadMaker maker_;
  Places waiting_{most_waiting};
  std::atomic<bool> stopping_ = false;
  WorkerPool workers_{{.threads = most_waiting, .per_owner = most_waiting, .is_background = true}};
  ServerThread server_thread_{maker_, workers_};
  std::set<std::shared_ptr<Work>> works_;  // used only by the loop's thread
  std::thread thread_;                     // last: starts after all other members exist
};

}  // namespace plimsoll::gateway
