// Finds the days that a question names: "three weeks ago", "last Friday", "in March", "last spring".
//
// English only. Pure; linear in the words of the question.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace plimsoll::conversation {

// Both ends included, as days since 1970-01-01, UTC.
struct DayRange {
  std::int64_t first = 0, last = 0;

  bool has(std::int64_t day) const { return day >= first && day <= last; }
  // Whether it tells a few turns from the rest: "ten days ago", not "this year".
  bool is_narrow() const { return last - first <= 25; }
  bool operator==(const DayRange&) const = default;
};

// `today`: the day of the question. A vague time ("two months ago") gives a range around it. People tell an
// event on its day or later, so a named day or month ends a little later than the calendar says.
std::vector<DayRange> days_named(std::string_view question, std::int64_t today);

constexpr std::int64_t day_of(std::int64_t utc_ms) {
  return utc_ms / (std::int64_t{24} * 3600 * 1000);
}

}  // namespace plimsoll::conversation
