// A model inside this process, run by llama.cpp: several answers at once, each in a slot of one context.
//
// It is loaded when it is first asked, and let go when nobody has asked for a while. What a slot has read
// stays there, so that the next turn of a conversation reads only what is new.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/llama/job.hpp"
#include "adapters/llama/runtime.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll::llama {

class Slots;

struct Options {
  RuntimeOptions runtime;
  std::chrono::milliseconds idle{300'000};  // let go after that
  std::size_t most_waiting = 256;           // more are refused
  // The tokens that a request's prompt is, by its kind and body: the model's own template, its own
  // tokenizer, its opening token. What a plan counts is what this gives, so that both always agree.
  std::function<Result<std::vector<TokenId>>(RequestKind kind, const std::string& body)> prompt;
};

// Any thread may call at any time.
class EmbeddedModel {
 public:
  explicit EmbeddedModel(Options options);
  EmbeddedModel(const EmbeddedModel&) = delete;
  EmbeddedModel& operator=(const EmbeddedModel&) = delete;
  ~EmbeddedModel();  // answers under way fail

  const Options& options() const { return options_; }

  // Whoever asked waits for Job::news. over_budget is told there too. Null: as many wait already as may.
  std::shared_ptr<Job> submit(Generation generation);
  bool is_loaded() const { return loaded_; }

 private:
  void run();
  void serve(Runtime& runtime);  // until nobody has asked for a while, or the program ends
  void refuse_waiting(const Error& why);
  std::shared_ptr<Job> next_waiting();

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> loaded_ = false;
  const Slots* serving_ = nullptr;  // the loop's own
  std::once_flag started_;
  std::thread thread_;
};

// The model as the engine knows upstreams; it outlives the link.
std::unique_ptr<UpstreamLink> make_link(EmbeddedModel& model);

}  // namespace plimsoll::llama
