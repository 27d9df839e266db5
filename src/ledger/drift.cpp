#include "ledger/drift.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

namespace plimsoll::ledger {
namespace {

bool is_believed(std::int64_t at_ms, std::int64_t now_ms) {
  // In both directions: the clock may have been set back.
  return at_ms > now_ms - DriftBook::believed_ms && at_ms < now_ms + DriftBook::believed_ms;
}

bool same_model(const DriftKey& a, const DriftKey& b) {
  return a.upstream == b.upstream && a.model == b.model && a.format == b.format;
}

}  // namespace

DriftKey DriftBook::of_everybody(DriftKey key) {
  key.owner.clear();
  return key;
}

budget::Drift DriftBook::drift_of(const Page& page, std::int64_t now_ms) {
  budget::Drift drift;
  for (const SeenDrift& one : page.recent) {
    if (!is_believed(one.at_ms, now_ms)) continue;
    drift.seen = true;
    drift.worst = std::max(drift.worst, one.difference < 0 ? Tokens{1} : one.difference);
  }
  return drift;
}

budget::Drift DriftBook::of(const DriftKey& key, std::int64_t now_ms) const {
  const std::shared_lock lock(mutex_);
  const auto own = pages_.find(key);
  budget::Drift drift = own == pages_.end() ? budget::Drift{} : drift_of(own->second, now_ms);
  const auto agreed = agreed_.find(of_everybody(key));
  if (agreed == agreed_.end() || !is_believed(agreed->second.at_ms, now_ms)) return drift;
  drift.seen = drift.seen || agreed->second.drift.seen;
  drift.worst = std::max(drift.worst, agreed->second.drift.worst);
  return drift;
}

// Uses the second largest value of all owners: at least two owners have seen that much.
void DriftBook::agree(const DriftKey& key, std::int64_t now_ms) {
  const DriftKey model = of_everybody(key);
  Tokens largest = -1, second = -1;
  for (auto page = pages_.lower_bound(model); page != pages_.end() && same_model(page->first, model);
       ++page) {
    const budget::Drift drift = drift_of(page->second, now_ms);
    if (!drift.seen) continue;
    second = std::max(second, std::min(largest, drift.worst));
    largest = std::max(largest, drift.worst);
  }
  if (second < 0) {
    agreed_.erase(model);
    return;
  }
  // Valid while two owners' observations are.
  std::vector<std::int64_t> seen_at;
  for (auto page = pages_.lower_bound(model); page != pages_.end() && same_model(page->first, model);
       ++page) {
    std::int64_t newest = 0;
    for (const SeenDrift& one : page->second.recent)
      if (is_believed(one.at_ms, now_ms) && std::max(one.difference, Tokens{0}) >= second)
        newest = std::max(newest, one.at_ms);
    seen_at.push_back(newest);
  }
  std::ranges::sort(seen_at, std::greater<>());
  const std::int64_t at_ms = seen_at.size() > 1 && seen_at[1] > 0 ? seen_at[1] : now_ms;
  agreed_[model] = {{.embedded = false, .seen = true, .worst = second}, at_ms};
}

DriftBook::Page& DriftBook::page_for(const DriftKey& key) {
  const auto found = pages_.find(key);
  if (found != pages_.end()) return found->second;
  if (pages_.size() >= most_keys) {
    const auto oldest =
        std::ranges::min_element(pages_, {}, [](const auto& one) { return one.second.learned_at; });
    agreed_.erase(of_everybody(oldest->first));  // recomputed at the next observation
    pages_.erase(oldest);
  }
  return pages_[key];
}

void DriftBook::learn(const DriftKey& key, Tokens difference, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  Page& page = page_for(key);
  if (page.recent.size() >= recent_kept) page.recent.erase(page.recent.begin());
  page.recent.push_back({difference, now_ms});
  ++page.seen;
  page.learned_at = ++learnings_;
  page.changed = true;
  agree(key, now_ms);
}

void DriftBook::relax(const DriftKey& key, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(key);
  if (found == pages_.end()) return;
  found->second.recent.clear();
  found->second.changed = true;
  agree(key, now_ms);
}

void DriftBook::forget(std::string_view model) {
  const std::lock_guard lock(mutex_);
  const auto is_meant = [&](const auto& one) { return model.empty() || one.first.model == model; };
  std::erase_if(pages_, is_meant);
  std::erase_if(agreed_, is_meant);
}

void DriftBook::load(std::vector<DriftHistory> histories, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  std::set<DriftKey> models;
  for (DriftHistory& history : histories) {
    Page& page = page_for(history.key);
    page.recent = std::move(history.recent);
    if (page.recent.size() > recent_kept)
      page.recent.erase(page.recent.begin(), page.recent.end() - static_cast<std::ptrdiff_t>(recent_kept));
    page.seen = std::max(history.seen, static_cast<std::int64_t>(page.recent.size()));
    page.learned_at = ++learnings_;
    page.changed = false;
    models.insert(of_everybody(history.key));
  }
  for (const DriftKey& model : models) agree(model, now_ms);
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
