#include "engine/traces/trace_feed.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ledger/trace_summary.hpp"

namespace plimsoll::engine {
namespace {

ledger::PlanSummary summary_of(const Plan& plan) {
  ledger::PlanSummary summary;
  summary.is_there = !plan.sections.empty();
  if (!summary.is_there) return summary;
  summary.left = plan.left;
  summary.pressure = plan.pressure;
  summary.policy = name_of(plan.policy);
  summary.strategy = name_of(plan.strategy.strategy);
  summary.sections.reserve(plan.sections.size());
  for (const PlannedSection& one : plan.sections)
    if (one.grant > 0 || one.used > 0)
      summary.sections.push_back({std::string(name_of(one.section.kind)), one.grant, one.used});
  summary.kept = std::ranges::count(plan.pieces, Fate::kept, &PlannedPiece::fate);
  summary.dropped = static_cast<std::int64_t>(plan.pieces.size()) - summary.kept;
  if (plan.summary) summary.summarised = plan.summary->messages;
  return summary;
}

}  // namespace

TraceFeed::News TraceFeed::Viewer::take() {
  std::vector<std::shared_ptr<const std::string>> events;
  std::uint64_t lost = 0;
  News news;
  {
    const std::lock_guard lock(feed_.mutex_);
    events.swap(waiting_);
    lost = std::exchange(lost_, 0);
    news.is_over = feed_.is_over_;
  }
  std::size_t size = 0;
  for (const auto& event : events) size += event->size();
  news.events.reserve(size + 64);
  for (const auto& event : events) news.events += *event;
  if (lost > 0) news.events += fmt::format("event: lost\ndata: {{\"lost\":{}}}\n\n", lost);
  return news;
}

std::unique_ptr<TraceFeed::Viewer> TraceFeed::watch(const std::string& owner) {
  auto viewer = std::make_unique<Viewer>(*this, owner);
  {
    const std::lock_guard lock(mutex_);
    const auto of_owner = std::ranges::count(viewers_, owner, [](const Viewer* one) { return one->owner_; });
    if (!is_over_ && viewers_.size() < options_.most_viewers &&
        static_cast<std::size_t>(of_owner) < options_.most_of_one_owner) {
      viewers_.push_back(viewer.get());
      count_ = viewers_.size();
      return viewer;
    }
  }
  return nullptr;  // after unlocking: the viewer removes itself
}

void TraceFeed::remove(const Viewer& viewer) {
  const std::lock_guard lock(mutex_);
  std::erase(viewers_, &viewer);
  count_ = viewers_.size();
}

bool TraceFeed::has_viewers_of(const std::string& owner) {
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(viewers_, [&](const Viewer* one) { return one->owner_ == owner; });
}

void TraceFeed::add_begun(const Trace& trace) {
  if (has_viewers_of(trace.owner)) add(trace.owner, "begun", ledger::begun_summary(trace));
}

void TraceFeed::add_finished(const Trace& trace, const Plan& plan) {
  if (has_viewers_of(trace.owner)) add(trace.owner, "trace", ledger::trace_summary(trace, summary_of(plan)));
}

void TraceFeed::add(const std::string& owner, std::string_view kind, const std::string& json) {
  const auto event = std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n\n", kind, json));
  const std::lock_guard lock(mutex_);
  for (Viewer* viewer : viewers_) {
    if (viewer->owner_ != owner) continue;
    if (viewer->waiting_.size() < options_.most_waiting)
      viewer->waiting_.push_back(event);
    else
      ++viewer->lost_;
  }
}

void TraceFeed::end() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
}

}  // namespace plimsoll::engine
