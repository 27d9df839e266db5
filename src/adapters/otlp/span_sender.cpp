#include "adapters/otlp/span_sender.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text/trace_context.hpp"

namespace plimsoll::otlp {
namespace {

constexpr std::chrono::minutes between_span_complaints{1};
constexpr std::uint8_t sampled = 1, made_at_random = 2;  // of W3C's flags

// The collector may take the same batch later, by OTLP's rules.
bool is_passing(const Result<HttpReply>& reply) {
  if (!reply) return reply.error().code != Errc::bad_input;
  return reply->status == 429 || reply->status == 502 || reply->status == 503 || reply->status == 504;
}

}  // namespace

SpanSender::SpanSender(HttpClient& http, SpanSource source, SpanSenderOptions options)
    : http_(http), source_(std::move(source)), options_(std::move(options)), thread_([this] { run(); }) {}

SpanSender::~SpanSender() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  news_.notify_one();
  thread_.join();
}

TraceContext SpanSender::begin(const TraceContext& of_client) {
  TraceContext own = of_client;
  if (!own.is_known()) {
    own.trace_id = base::new_trace_id();
    own.flags = made_at_random | (base::is_in_share(own.trace_id, options_.share) ? sampled : 0);
  }
  own.span_id = base::new_span_id();
  return own;
}

void SpanSender::add(const Trace& trace, const Plan& plan, RequestKind kind, bool with_words) {
  std::string spans = spans_of(trace, plan, kind, with_words);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.most_waiting ||
        waiting_bytes_ + spans.size() > options_.most_waiting_bytes) {
      ++dropped_;
      return;
    }
    waiting_bytes_ += spans.size();
    waiting_.push_back(std::move(spans));
    wake = waiting_.size() == 1 || waiting_.size() == options_.batch;
  }
  if (wake) news_.notify_one();
}

void SpanSender::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    // Those that follow soon come along.
    news_.wait_for(lock, options_.patience, [&] { return stopping_ || waiting_.size() >= options_.batch; });
    const std::vector<std::string> all = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    const bool last = stopping_;
    lock.unlock();
    for (std::size_t begin = 0; begin < all.size(); begin += options_.batch) {
      const std::size_t end = std::min(all.size(), begin + options_.batch);
      if (send({all.begin() + static_cast<std::ptrdiff_t>(begin),
                all.begin() + static_cast<std::ptrdiff_t>(end)}) ||
          !is_stopping())
        continue;
      dropped_ += all.size() - end;  // nobody waits for each of the rest
      break;
    }
    complain();
    lock.lock();
    if (last) return;  // nothing is added during destruction
  }
}

bool SpanSender::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool SpanSender::send(const std::vector<std::string>& batch) {
  HttpRequest request{"POST", options_.url, options_.headers, spans_request(source_, batch)};
  request.headers.push_back({"Content-Type", "application/json"});
  std::chrono::milliseconds pause = options_.first_pause;
  for (int tries = 1;; ++tries) {
    const bool last = is_stopping();
    const auto reply = http_.send(request, Deadline::after(last ? options_.last_timeout : options_.timeout));
    if (reply && reply->status >= 200 && reply->status < 300) {
      sent_ += batch.size();
      return true;
    }
    last_problem_ = reply ? fmt::format("status {}", reply->status) : reply.error().what;
    if (last || tries >= options_.most_tries || !is_passing(reply)) {
      dropped_ += batch.size();
      return false;
    }
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, pause, [&] { return stopping_; });
    pause *= 2;
  }
}

void SpanSender::complain() {
  const std::uint64_t now_dropped = dropped_;
  const auto now = std::chrono::steady_clock::now();
  if (now_dropped == dropped_told_ || now < may_complain_at_) return;
  log::warning(
      "spans of requests were lost",
      {{"count", now_dropped - dropped_told_},
       {"why", last_problem_.empty() ? "the collector was too slow" : std::string_view(last_problem_)},
       {"setting", "otlp_endpoint"}});
  dropped_told_ = now_dropped;
  last_problem_.clear();
  may_complain_at_ = now + between_span_complaints;
}

}  // namespace plimsoll::otlp
