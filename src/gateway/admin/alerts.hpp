// Sends alerts to a webhook, one after the other, on a thread of its own.
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

// Any thread may add. What cannot be delivered is said in the log and not tried again; at the end, what waits
// is dropped.
class AlertPost {
 public:
  // The client outlives it.
  AlertPost(HttpClient& http, std::string url);
  AlertPost(const AlertPost&) = delete;
  AlertPost& operator=(const AlertPost&) = delete;
  ~AlertPost();

  // Never waits.
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
  std::thread thread_;  // last: everything else is there when it starts
};

}  // namespace plimsoll::gateway
