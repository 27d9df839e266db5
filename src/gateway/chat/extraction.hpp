// Facts out of conversations: after an answer, the model that gave it is asked what of it is worth
// remembering, behind the request. Only where the setting extract_memories says so.
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
#include "plimsoll/sessions.hpp"

namespace plimsoll::gateway {

// What was said.
struct RequestState {
  engine::Caller caller;
  std::string model;
  std::string session;  // what is learned belongs to it alone
  std::string question, answer;
  std::string trace;  // of the turn, by which it is known again
};

// The facts in what a model answered: a JSON list of texts, or of objects with `text` and `importance`, with
// or without words around it. None where there is no such list.
std::vector<engine::NewFact> read_facts(std::string_view answer);

// Has a thread of its own that talks to upstreams, and one that writes. All that is given outlives it.
class Extraction {
 public:
  Extraction(engine::Engine& engine, engine::Memories& memories, SessionStore& sessions, ThreadMaker maker);
  Extraction(const Extraction&) = delete;
  Extraction& operator=(const Extraction&) = delete;
  // What is under way is given up.
  ~Extraction();

  // Comes back at once. Where too many wait, it is left, and the log says so.
  void consider(RequestState said);

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
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> stopping_ = false;
  boost::asio::thread_pool workers_{1};
  ServerThread server_thread_{maker_, workers_};
  std::set<std::shared_ptr<Work>> works_;  // of the loop's thread alone
  std::thread thread_;                     // last: everything else is there when it starts
};

}  // namespace plimsoll::gateway
