#include "search/term_table.hpp"

#include <algorithm>
#include <cstring>

namespace plimsoll::search {

namespace {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t value = text.size() * 0x9E3779B97F4A7C15U;
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t part = 0;
    std::memcpy(&part, text.data() + at, std::min<std::size_t>(8, text.size() - at));
    value = (value ^ part) * 0x9FB21C651E98DF25U;
    value ^= value >> 32U;
  }
  return value;
}

}  // namespace

std::pair<std::uint32_t, bool> TermTable::number_of(std::string_view wanted) {
  const std::uint64_t hash = hash_of(wanted);
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].number != 0; at = (at + 1) & (slots_.size() - 1))
    if (slots_[at].hash == tag && text(slots_[at].number - 1) == wanted)
      return {slots_[at].number - 1, false};

  letters_ += wanted;
  ends_.push_back(static_cast<std::uint32_t>(letters_.size()));
  slots_[at] = {tag, static_cast<std::uint32_t>(size())};
  const auto number = static_cast<std::uint32_t>(size() - 1);
  if (size() * 2 > slots_.size()) grow();
  return {number, true};
}

void TermTable::grow() {
  std::vector<Slot> slots(slots_.size() * 4);
  for (const Slot& slot : slots_) {
    if (slot.number == 0) continue;
    std::size_t at = hash_of(text(slot.number - 1)) & (slots.size() - 1);
    while (slots[at].number != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = slot;
  }
  slots_ = std::move(slots);
}

void TermTable::clear() {
  *this = TermTable();
}

}  // namespace plimsoll::search
