#include "conversation/summaries.hpp"

#include "base/log.hpp"

namespace plimsoll::conversation {
namespace {

constexpr std::size_t most_entries = 2'000;
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::chrono::seconds rest{60};

std::string key_of(const std::string& owner, const std::string& hash) {
  return owner + '\0' + hash;
}

std::size_t bytes_of(const KeptSummary& summary) {
  return summary.text.size() + 512;  // and its other fields
}

}  // namespace

std::optional<Summaries::Found> Summaries::find(const std::string& owner, const std::string& session,
                                                const TurnRows& rows) {
  if (session.empty()) return find_in_memory(owner, rows);
  const auto known = store_.summaries(owner, session, /*whole=*/false);
  if (!known) {
    log::warning("summaries of a session cannot be read", {{"why", known.error().what}});
    return std::nullopt;
  }
  std::unordered_map<std::string_view, const KeptSummary*> by_hash, by_end;
  for (const KeptSummary& one : *known) by_hash[one.hash] = by_end[one.ends_with] = &one;
  for (const auto& [names, table] : {std::pair(&rows.hashes, &by_hash), std::pair(&rows.ends_with, &by_end)})
    for (std::size_t row = names->size(); row-- > 0;) {
      const auto found = table->find((*names)[row]);
      if (found == table->end()) continue;
      auto whole = store_.summary(owner, session, found->second->hash);
      if (whole) return Found{row, *std::move(whole)};
    }
  return std::nullopt;
}

Result<void> Summaries::keep(const std::string& owner, const std::string& session,
                             const KeptSummary& summary) {
  if (!session.empty()) return store_.keep_summary(owner, session, summary, limits_);
  keep_in_memory(owner, summary);
  return {};
}

std::optional<Summaries::Found> Summaries::find_in_memory(const std::string& owner, const TurnRows& rows) {
  const std::lock_guard lock(mutex_);
  for (std::size_t row = rows.hashes.size(); row-- > 0;) {
    const auto found = by_key_.find(key_of(owner, rows.hashes[row]));
    if (found == by_key_.end()) continue;
    entries_.splice(entries_.begin(), entries_, found->second);
    return Found{row, found->second->summary};
  }
  return std::nullopt;
}

void Summaries::keep_in_memory(const std::string& owner, const KeptSummary& summary) {
  const std::lock_guard lock(mutex_);
  const std::string key = key_of(owner, summary.hash);
  const auto drop = [&](std::list<Entry>::iterator entry) {
    bytes_ -= bytes_of(entry->summary);
    by_key_.erase(entry->key);
    entries_.erase(entry);
  };
  if (const auto before = by_key_.find(key); before != by_key_.end()) drop(before->second);
  entries_.push_front({key, summary});
  entries_.front().summary.originals.clear();  // the client has them
  by_key_[key] = entries_.begin();
  bytes_ += bytes_of(entries_.front().summary);
  while (entries_.size() > 1 && (entries_.size() > most_entries || bytes_ > most_bytes))
    drop(std::prev(entries_.end()));
}

bool Summaries::rests(const std::string& writer, Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto found = resting_.find(writer);
  return found != resting_.end() && now < found->second;
}

void Summaries::failed(const std::string& writer, Clock::time_point now) {
  constexpr std::size_t most_resting = 4'096;
  const std::lock_guard lock(mutex_);
  if (resting_.size() >= most_resting)
    std::erase_if(resting_, [&](const auto& one) { return one.second <= now; });
  if (resting_.size() < most_resting) resting_[writer] = now + rest;
}

void Summaries::succeeded(const std::string& writer) {
  const std::lock_guard lock(mutex_);
  resting_.erase(writer);
}

}  // namespace plimsoll::conversation
