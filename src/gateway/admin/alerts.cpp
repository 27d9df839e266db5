#include "gateway/admin/alerts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/log.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::chrono::seconds webhook_patience{5};
constexpr std::size_t most_alerts = 100;  // two per key and day: more means that the webhook hangs
constexpr std::int64_t day_seconds = std::int64_t{24} * 3600;

}  // namespace

std::string alert_json(const BudgetAlert& alert) {
  const auto day = fmt::gmtime(static_cast<std::time_t>(alert.day * day_seconds));
  const nlohmann::ordered_json json{{"event", "budget"},
                                    {"key", alert.key},
                                    {"percent", alert.percent},
                                    {"used_tokens", alert.used},
                                    {"tokens_per_day", alert.budget},
                                    {"day", fmt::format("{:%Y-%m-%d}", day)}};
  return base::json_text(json);
}

AlertPost::AlertPost(HttpClient& http, std::string url)
    : http_(http), url_(std::move(url)), thread_([this] { run(); }) {}

AlertPost::~AlertPost() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void AlertPost::add(const BudgetAlert& alert) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_alerts) waiting_.pop_front();
    waiting_.push_back(alert);
  }
  news_.notify_one();
}

void AlertPost::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const BudgetAlert alert = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    send(alert);
    lock.lock();
  }
}

// The URL may contain a secret of the receiver, so it is never logged.
void AlertPost::send(const BudgetAlert& alert) {
  HttpRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = alert_json(alert);
  const auto reply = http_.send(request, Deadline::after(webhook_patience));
  if (reply && reply->status < 300) return;
  log::warning(
      "cannot deliver an alert to alert_webhook",
      {{"key", alert.key},
       {"percent", alert.percent},
       {"why", reply ? fmt::format("status {}", reply->status) : std::string(name_of(reply.error().code))}});
}

}  // namespace plimsoll::gateway
