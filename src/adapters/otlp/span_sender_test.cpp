#include "adapters/otlp/span_sender.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace plimsoll::otlp {
namespace {

using namespace std::chrono_literals;

// A collector that answers with the next status of its script, and with the last one for ever.
class FakeCollector final : public HttpClient {
 public:
  Result<HttpReply> send(const HttpRequest& request, Deadline /*deadline*/) override {
    std::unique_lock lock(mutex_);
    requests.push_back(request);
    const int status = script[std::min(requests.size(), script.size()) - 1];
    changed_.notify_all();
    changed_.wait(lock, [&] { return !shut_; });
    if (status == 0) return fail(Errc::unreachable, "connection refused");
    return HttpReply{status, {}, "{}"};
  }
  void shut(bool is_shut) {
    const std::lock_guard lock(mutex_);
    shut_ = is_shut;
    changed_.notify_all();
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 30s, [&] { return requests.size() >= count; }));
  }
  std::size_t spans_in(std::size_t number) {
    const std::lock_guard lock(mutex_);
    const auto body = nlohmann::json::parse(requests.at(number).body);
    return body["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
  }

  std::vector<int> script{200};
  std::vector<HttpRequest> requests;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
};

SpanSenderOptions quick_options() {
  return {.url = "http://collector:4318/v1/traces", .patience = 1ms, .first_pause = 1ms};
}

const Trace empty_trace;

TEST(SpanSender, SendsWhatWaitsTogether) {
  FakeCollector collector;
  SpanSenderOptions options = quick_options();
  options.patience = 1h;
  options.batch = 3;
  options.headers = {{"Authorization", "Bearer x"}};
  SpanSender sender(collector, {"1.0", "me"}, options);
  for (int i = 0; i < 3; ++i) sender.add(empty_trace, {}, RequestKind::chat, false);
  collector.wait_for(1);
  EXPECT_EQ(collector.spans_in(0), 3U);
  EXPECT_EQ(collector.requests[0].url, "http://collector:4318/v1/traces");
  EXPECT_EQ(collector.requests[0].headers[0].name, "Authorization");
  EXPECT_EQ(collector.requests[0].headers[1].value, "application/json");
}

TEST(SpanSender, SendsTheRestAtTheEnd) {
  FakeCollector collector;
  {
    SpanSenderOptions options = quick_options();
    options.patience = 1h;
    SpanSender sender(collector, {}, options);
    sender.add(empty_trace, {}, RequestKind::chat, false);
  }
  ASSERT_EQ(collector.requests.size(), 1U);
  EXPECT_EQ(collector.spans_in(0), 1U);
}

TEST(SpanSender, TriesAgainWhileTheCollectorIsBusyOrAway) {
  FakeCollector collector;
  collector.script = {503, 0, 429, 200};
  SpanSender sender(collector, {}, quick_options());
  sender.add(empty_trace, {}, RequestKind::chat, false);
  collector.wait_for(4);
  while (sender.sent() == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(sender.dropped(), 0U);
  EXPECT_EQ(collector.requests[0].body, collector.requests[3].body);
}

TEST(SpanSender, GivesUpAndCounts) {
  FakeCollector collector;
  collector.script = {0};
  SpanSender sender(collector, {}, quick_options());
  sender.add(empty_trace, {}, RequestKind::chat, false);
  collector.wait_for(4);
  while (sender.dropped() == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(collector.requests.size(), 4U);
  EXPECT_EQ(sender.sent(), 0U);
}

TEST(SpanSender, DoesNotRepeatWhatTheCollectorRefuses) {
  FakeCollector collector;
  collector.script = {400};
  SpanSender sender(collector, {}, quick_options());
  sender.add(empty_trace, {}, RequestKind::chat, false);
  while (sender.dropped() == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(collector.requests.size(), 1U);
}

TEST(SpanSender, HoldsNoMoreThanItsLimit) {
  FakeCollector collector;
  collector.shut(true);
  SpanSenderOptions options = quick_options();
  options.most_waiting = 10;
  SpanSender sender(collector, {}, options);
  sender.add(empty_trace, {}, RequestKind::chat, false);
  collector.wait_for(1);  // and hangs
  for (int i = 0; i < 100; ++i) sender.add(empty_trace, {}, RequestKind::chat, false);
  EXPECT_EQ(sender.dropped(), 90U);
  collector.shut(false);
}

TEST(SpanSender, TriesNoMoreThanOnceAtTheEnd) {
  FakeCollector collector;
  collector.script = {0};
  std::thread opener;
  {
    SpanSenderOptions options = quick_options();
    options.patience = 1h;
    options.batch = 2;
    SpanSender sender(collector, {}, options);
    collector.shut(true);
    for (int i = 0; i < 2; ++i) sender.add(empty_trace, {}, RequestKind::chat, false);
    collector.wait_for(1);
    for (int i = 0; i < 9; ++i) sender.add(empty_trace, {}, RequestKind::chat, false);
    opener = std::thread([&] {
      std::this_thread::sleep_for(50ms);
      collector.shut(false);
    });
  }
  opener.join();
  EXPECT_LE(collector.requests.size(), 3U);
}

TEST(SpanSender, BeginsASpanInTheTraceOfTheClient) {
  FakeCollector collector;
  SpanSenderOptions options = quick_options();
  options.share = 0;
  SpanSender sender(collector, {}, options);
  const TraceContext client{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 1, "a=1"};
  const TraceContext own = sender.begin(client);
  EXPECT_EQ(own.trace_id, client.trace_id);
  EXPECT_NE(own.span_id, client.span_id);
  EXPECT_TRUE(own.is_sampled()) << "the client decides";
  EXPECT_EQ(own.state, "a=1");
  const TraceContext first = sender.begin({});
  EXPECT_TRUE(first.is_known());
  EXPECT_FALSE(first.is_sampled());
}

}  // namespace
}  // namespace plimsoll::otlp
