#include "serve/model_watch.hpp"

#include <csignal>

#include <algorithm>
#include <chrono>

namespace plimsoll {
namespace {

bool is_stop_pending() {
  sigset_t pending;
  sigemptyset(&pending);
  return sigpending(&pending) == 0 &&
         (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

}  // namespace

ModelWatch::ModelWatch(ServedGateway& gateway) : gateway_(gateway), thread_([this] { run(); }) {}

ModelWatch::~ModelWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  gateway_.stop_asking();
  thread_.join();
}

void ModelWatch::wait_for_first_lists() {
  constexpr std::chrono::milliseconds longest{2'000}, step{20};
  const auto end = std::chrono::steady_clock::now() + longest;
  std::unique_lock lock(mutex_);
  while (std::chrono::steady_clock::now() < end && !is_stop_pending() &&
         !wake_.wait_for(lock, step, [&] { return has_asked_all_; })) {
  }
}

void ModelWatch::run() {
  constexpr int for_the_silent = 2, for_all = 300;  // seconds
  gateway_.upstreams().refresh(gateway_.for_a_list());
  std::unique_lock lock(mutex_);
  has_asked_all_ = true;
  wake_.notify_all();
  for (int seconds = 1; !wake_.wait_for(lock, std::chrono::seconds(1), [&] { return stopping_; });
       ++seconds) {
    lock.unlock();
    if (seconds % for_all == 0)
      gateway_.upstreams().refresh(gateway_.for_a_list());
    else if (seconds % for_the_silent == 0 && has_silent())
      gateway_.upstreams().refresh_silent(gateway_.for_a_list());
    lock.lock();
  }
}

bool ModelWatch::has_silent() const {
  const auto models = gateway_.upstreams().models();
  return std::ranges::any_of(*models, [](const auto& member) { return !member.problem.empty(); });
}

}  // namespace plimsoll
