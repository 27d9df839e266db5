// RAGEngine's counters and histograms with its names, so existing dashboards work.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

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

// Results of /retrieve, one number per request.
enum class RagFigure : std::uint8_t {
  result_count,
  lowest_score,
  average_score,
  top_score,
  median_score,
  score_spread,
  top_k_requested,
  dense_candidates,   // found by meaning
  sparse_candidates,  // found by words
  overlap_count,
  dense_only_count,
  sparse_only_count,
};

enum class StoreOperation : std::uint8_t { insert, remove, query };

// Thread-safe.
class RagMetrics {
 public:
  using Clock = std::chrono::steady_clock;

  void add(RagRoute route, bool success, Clock::duration took);
  void add(RagFigure figure, double value);
  void add(StoreOperation operation, bool success, Clock::duration took);
  void add_embedding(bool remote, bool success, Clock::duration took);
  std::string text() const;  // in Prometheus format; numbers end in ".0", as its client library prints them

  std::atomic<std::int64_t> running = 0;

 private:
  static constexpr std::array<double, 14> bounds{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25,
                                                 0.5,   0.75, 1,     2.5,  5,     7.5, 10};
  class Histogram {
   public:
    void add(double value);
    void add(Clock::duration took) { add(std::chrono::duration<double>(took).count()); }
    std::uint64_t count() const { return count_; }
    // `labels`: such as `status="success"`, or empty.
    void write(std::string& out, std::string_view name, std::string_view labels) const;

   private:
    std::atomic<std::uint64_t> count_ = 0;
    std::atomic<std::int64_t> millionths_ = 0;
    std::array<std::atomic<std::uint64_t>, bounds.size()> up_to_{};  // each value counts in one of them
  };
  using ByStatus = std::array<Histogram, 2>;  // failure, success

  static void write_route(std::string& out, std::string_view requests, std::string_view latency,
                          std::string_view help, const ByStatus& series);

  std::array<ByStatus, static_cast<std::size_t>(RagRoute::any) + 1> routes_;
  std::array<Histogram, static_cast<std::size_t>(RagFigure::sparse_only_count) + 1> figures_;
  std::array<ByStatus, static_cast<std::size_t>(StoreOperation::query) + 1> operations_;
  std::array<ByStatus, 2> embeddings_;  // local, remote
};

}  // namespace plimsoll::gateway
