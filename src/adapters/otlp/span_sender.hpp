// Sends spans of requests to an OpenTelemetry collector in batches, on its own thread, so that requests do
// not wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/otlp/spans.hpp"
#include "plimsoll/http.hpp"
#include "plimsoll/trace.hpp"

namespace plimsoll::otlp {

struct SpanSenderOptions {
  std::string url;                    // of the collector, with its path
  std::vector<HttpHeader> headers{};  // for the collector; may be secrets
  double share = 1;                   // of the requests whose client does not say whether to trace them
  std::chrono::milliseconds patience{1'000};  // between two batches
  std::size_t batch = 256;                    // sent at once when this many wait
  std::size_t most_waiting = 4'096;           // above either limit, spans are dropped and counted
  std::size_t most_waiting_bytes = std::size_t{16} << 20;
  std::chrono::milliseconds timeout{5'000};    // for the collector's answer, so that the process ends in time
  std::chrono::milliseconds first_pause{500};  // before a batch is sent again; doubles each time
  int most_tries = 4;                          // for one batch, if the collector is busy or away
  std::chrono::milliseconds last_timeout{2'000};  // at the end
};

// Thread-safe. The client must outlive it.
class SpanSender final : public SpanSink {
 public:
  SpanSender(HttpClient& http, SpanSource source, SpanSenderOptions options);
  SpanSender(const SpanSender&) = delete;
  SpanSender& operator=(const SpanSender&) = delete;
  // Tries once more to send what waits.
  ~SpanSender() override;

  TraceContext begin(const TraceContext& of_client) override;
  void add(const Trace& trace, const Plan& plan, RequestKind kind, bool with_words) override;
  std::uint64_t sent() const override { return sent_; }
  std::uint64_t dropped() const override { return dropped_; }

 private:
  void run();
  bool is_stopping();
  // Returns whether it was sent; false: it is lost.
  bool send(const std::vector<std::string>& batch);
  void complain();

  HttpClient& http_;
  const SpanSource source_;
  const SpanSenderOptions options_;

  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool stopping_ = false;

  std::atomic<std::uint64_t> sent_ = 0, dropped_ = 0;

  // Used only by the thread.
  std::string last_problem_;
  std::uint64_t dropped_told_ = 0;
  std::chrono::steady_clock::time_point may_complain_at_{};

  std::thread thread_;  // last: starts after all other members exist
};

}  // namespace plimsoll::otlp
