#include "ledger/drift.hpp"

#include <algorithm>
#include <mutex>

namespace plimsoll::ledger {
namespace {

Tokens worst_of(const std::vector<Tokens>& differences) {
  Tokens worst = 0;
  for (const Tokens difference : differences)
    worst = std::max(worst, difference < 0 ? Tokens{1} : difference);
  return worst;
}

}  // namespace

budget::Drift DriftBook::of(const DriftKey& key) const {
  const std::shared_lock lock(mutex_);
  const auto found = pages_.find(key);
  if (found == pages_.end()) return {};
  return {.embedded = false, .seen = found->second.seen > 0, .worst = found->second.worst};
}

DriftBook::Page& DriftBook::page_for(const DriftKey& key) {
  const auto found = pages_.find(key);
  if (found != pages_.end()) return found->second;
  if (pages_.size() >= most_keys)
    pages_.erase(std::min_element(pages_.begin(), pages_.end(), [](const auto& a, const auto& b) {
      return a.second.learned_at < b.second.learned_at;
    }));
  return pages_[key];
}

void DriftBook::learn(const DriftKey& key, Tokens difference) {
  const std::lock_guard lock(mutex_);
  Page& page = page_for(key);
  if (page.recent.size() >= recent_kept) page.recent.erase(page.recent.begin());
  page.recent.push_back(difference);
  ++page.seen;
  page.worst = worst_of(page.recent);
  page.learned_at = ++learnings_;
  page.changed = true;
}

void DriftBook::load(std::vector<DriftHistory> histories) {
  const std::lock_guard lock(mutex_);
  for (DriftHistory& history : histories) {
    Page& page = page_for(history.key);
    page.recent = std::move(history.recent);
    if (page.recent.size() > recent_kept)
      page.recent.erase(page.recent.begin(), page.recent.end() - static_cast<std::ptrdiff_t>(recent_kept));
    page.seen = std::max(history.seen, static_cast<std::int64_t>(page.recent.size()));
    page.worst = worst_of(page.recent);
    page.learned_at = ++learnings_;
    page.changed = false;
  }
}

std::vector<DriftHistory> DriftBook::take_changed() {
  const std::lock_guard lock(mutex_);
  std::vector<DriftHistory> out;
  for (auto& [key, page] : pages_) {
    if (!page.changed) continue;
    page.changed = false;
    out.push_back({key, page.recent, page.seen});
  }
  return out;
}

}  // namespace plimsoll::ledger
