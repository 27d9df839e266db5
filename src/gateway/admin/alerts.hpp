// Sends alerts to a webhook, one after the other, on its own thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "gateway/auth/gate.hpp"
#include "plimsoll/http.hpp"

namespace plimsoll::gateway {

std::string alert_json(const BudgetAlert& alert);

// add() is thread-safe. Failed deliveries are logged and not retried; at the end, waiting alerts
// are dropped.
class AlertPost {
 public:
  // The client must outlive it.
  AlertPost(HttpClient& http, std::string url);
  AlertPost(const AlertPost&) = delete;
  AlertPost& operator=(const AlertPost&) = delete;
  ~AlertPost();

  // Does not block.
  void add(const BudgetAlert& alert);

 private:
  void run();
  void send(const BudgetAlert& alert);

  HttpClient& http_;
  std::string url_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<BudgetAlert> waiting_;
  bool stopping_ = false;
  std::thread thread_;  // last: starts after all other members exist
};

}  // namespace plimsoll::gateway
