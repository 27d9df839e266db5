// RAGEngine's counters and histograms, by its names: whoever watches it with them watches this one.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace plimsoll::gateway {

enum class RagRoute : std::uint8_t {
  chat,
  index,
  indexes,
  documents,
  update_documents,
  delete_documents,
  retrieve,
  persist,
  load,
  delete_index,
  any,  // all requests together
};

// Any thread adds.
class RagMetrics {
 public:
  using Clock = std::chrono::steady_clock;

  void add(RagRoute route, bool success, Clock::duration took);
  std::string text() const;  // as Prometheus reads it; numbers with their ".0", as its client library prints

  std::atomic<std::int64_t> running = 0;

 private:
  static constexpr std::array<double, 14> bounds{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25,
                                                 0.5,   0.75, 1,     2.5,  5,     7.5, 10};
  struct Series {
    std::atomic<std::uint64_t> count = 0;
    std::atomic<std::int64_t> microseconds = 0;
    std::array<std::atomic<std::uint64_t>, bounds.size()> up_to{};  // each request in one of them
  };
  static constexpr std::size_t routes = static_cast<std::size_t>(RagRoute::any) + 1;
  std::array<std::array<Series, 2>, routes> series_;  // by route; failure, success
};

}  // namespace plimsoll::gateway
