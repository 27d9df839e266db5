// Asks servers for their models periodically: all of them at once when it starts, then often those that did
// not answer, and rarely all of them. Runs on its own thread, so a server that drops packets blocks nothing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "serve/served_gateway.hpp"

namespace plimsoll {

class ModelWatch {
 public:
  // The gateway must outlive it.
  explicit ModelWatch(ServedGateway& gateway);
  ModelWatch(const ModelWatch&) = delete;
  ModelWatch& operator=(const ModelWatch&) = delete;
  // Ends the running request. The gateway asks servers for no more models or windows.
  ~ModelWatch();

  // Waits until every server was asked, for a short time at most, and not if a signal to stop is pending.
  void wait_for_first_lists();

 private:
  void run();
  bool has_silent() const;

  ServedGateway& gateway_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool stopping_ = false;
  bool has_asked_all_ = false;
  std::thread thread_;  // last: starts after all other members exist
};

}  // namespace plimsoll
