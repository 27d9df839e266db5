// Rules S1 to S4: the pressure of the window, and its effect on memories.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "plimsoll/strategy.hpp"
#include "strategy/words.hpp"

namespace plimsoll {
namespace {

using strategy::Words;
using strategy::words_of_signal;

__extension__ using Wide = __int128;  // products of two token counts

// Returns the tokens at which the window counts as full; 0: no window.
Tokens full_at(const ContextBudget& budget) {
  if (budget.context_length <= 0) return 0;
  return budget.threshold_tokens > 0 ? budget.threshold_tokens : budget.context_length;
}

// Compares the pressure with hundredths: negative, 0 or positive.
int compare(const ContextBudget& budget, int hundredths) {
  const Tokens full = full_at(budget);
  if (full == 0) return -1;
  const Wide used = Wide{std::max<Tokens>(budget.used_tokens, 0)} * 100;
  const Wide border = Wide{full} * hundredths;
  return used < border ? -1 : used > border ? 1 : 0;
}

constexpr std::string_view memory_signals[] = {
    "remember", "recall",   "what did", "who is",    "last time", "previously", "before", "fact store",
    "memory",   "memories", "told you", "mentioned", "said",      "project",    "config", "setup",
};

// Searching memory too often is better than too rarely: the last word may have any ending, so
// "configuration" and "projects" count.
bool has_memory_signal(std::string_view query) {
  const Words words(query);
  for (const std::string_view signal : memory_signals) {
    const auto parts = words_of_signal(signal);
    for (std::size_t at = 0; at + parts.size() <= words.size(); ++at) {
      bool found = words[at + parts.size() - 1].starts_with(parts.back());
      for (std::size_t k = 0; found && k + 1 < parts.size(); ++k)
        found = words[at + k] == parts[k] && words.joined(at + k + 1);
      if (found) return true;
    }
  }
  return false;
}

// Counts code points.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string_view advice(PressureLevel level) {
  switch (level) {
    case PressureLevel::stuff: return "There is plenty of room: prefetching generously.";
    case PressureLevel::hybrid: return "The window is filling: standard retrieval.";
    case PressureLevel::selective: return "The window is tight: minimal prefetch, prefer on-demand tools.";
  }
  return "";
}

}  // namespace

std::string_view name_of(PressureLevel level) {
  switch (level) {
    case PressureLevel::stuff: return "stuff";
    case PressureLevel::hybrid: return "hybrid";
    case PressureLevel::selective: return "selective";
  }
  return "selective";
}

double ContextBudget::pressure() const {
  const Tokens full = full_at(*this);
  if (full == 0) return 0;
  return static_cast<double>(std::max<Tokens>(used_tokens, 0)) / static_cast<double>(full);
}

PressureLevel ContextBudget::level() const {
  if (compare(*this, 30) < 0) return PressureLevel::stuff;
  return compare(*this, 70) < 0 ? PressureLevel::hybrid : PressureLevel::selective;
}

Prefetch prefetch(const ContextBudget& budget, std::int64_t base_limit, double base_min_trust) {
  const PressureLevel level = budget.level();
  if (compare(budget, 95) > 0) return {0, 1.0, level, true};
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t base = std::max<std::int64_t>(base_limit, 1);
  switch (level) {
    case PressureLevel::stuff: return {base > most / 3 ? most : base * 3, 0.2, level, false};
    case PressureLevel::hybrid: return {base, base_min_trust, level, false};
    case PressureLevel::selective:
      // 0.4 is two fifths.
      return {std::max<std::int64_t>(1, base / 5 * 2 + base % 5 * 2 / 5), 0.5, level, false};
  }
  return {};
}

bool should_prefetch(const ContextBudget& budget, std::string_view query) {
  constexpr std::size_t short_query = 200;
  if (compare(budget, 50) < 0) return true;
  if (compare(budget, 80) >= 0 && characters(query) >= short_query) return false;
  return has_memory_signal(query);
}

std::string pressure_report(const ContextBudget& budget, double base_min_trust) {
  using base::with_thousands;
  const Prefetch fetch = prefetch(budget, 5, base_min_trust);
  return fmt::format(
      "Context Strategy: {}\n"
      "  Pressure:  {:.1f}%\n"
      "  Used:      {} / {} tokens\n"
      "  Threshold: {} tokens\n"
      "  Prefetch:  {} facts\n"
      "  Min trust: {:.1f}\n"
      "  Skipped:   {}\n"
      "  → {}",
      base::to_upper_ascii(name_of(fetch.level)), budget.pressure() * 100, with_thousands(budget.used_tokens),
      with_thousands(budget.context_length), with_thousands(budget.threshold_tokens), fetch.limit,
      fetch.min_trust, fetch.skip ? "yes" : "no", advice(fetch.level));
}

}  // namespace plimsoll
