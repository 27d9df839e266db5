// Passes requests on to those who watch them as they happen, as server-sent events.
//
// A viewer sees the requests of one owner. Each viewer has a bounded queue: one that reads too slowly loses
// events and is told how many. While nobody watches, a request costs one atomic load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plimsoll/plan.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct TraceFeedOptions {
  std::size_t most_waiting = 1'024;  // events in the queue of one viewer
  std::size_t most_viewers = 64;
  std::size_t most_of_one_owner = 16;
};

// Thread-safe. Must outlive its viewers.
class TraceFeed {
 public:
  explicit TraceFeed(TraceFeedOptions options = {}) : options_(options) {}
  TraceFeed(const TraceFeed&) = delete;
  TraceFeed& operator=(const TraceFeed&) = delete;

  // What has happened since the last call.
  struct News {
    std::string events;  // complete events; may be empty
    bool is_over = false;
  };

  // Watches until it is destroyed.
  class Viewer {
   public:
    Viewer(TraceFeed& feed, std::string owner) : feed_(feed), owner_(std::move(owner)) {}
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    ~Viewer() { feed_.remove(*this); }

    News take();

   private:
    friend TraceFeed;
    TraceFeed& feed_;
    std::string owner_;
    // Guarded by the feed's mutex. An event is shared by all viewers.
    std::vector<std::shared_ptr<const std::string>> waiting_;
    std::uint64_t lost_ = 0;
  };

  // Null: there are too many viewers, in total or of this owner.
  std::unique_ptr<Viewer> watch(const std::string& owner);
  void add_begun(const Trace& trace);
  void add_finished(const Trace& trace, const Plan& plan);
  // Ends all viewers and refuses new ones, for a server that shuts down.
  void end();

 private:
  bool has_viewers_of(const std::string& owner);
  void add(const std::string& owner, std::string_view kind, const std::string& json);
  void remove(const Viewer& viewer);

  TraceFeedOptions options_;
  std::atomic<std::size_t> count_ = 0;
  std::mutex mutex_;  // guards the members below, and what the viewers say
  std::vector<Viewer*> viewers_;
  bool is_over_ = false;
};

}  // namespace plimsoll::engine
