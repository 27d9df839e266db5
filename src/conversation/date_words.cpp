#include "conversation/date_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

#include "base/text/words.hpp"

namespace plimsoll::conversation {
namespace {

using std::chrono::sys_days;
using Words = std::vector<std::string>;

// Longer questions are a pasted text, and the dates in it are not about the conversation.
constexpr std::size_t most_words = 200;

Words words_in(std::string_view question) {
  Words words;
  for (base::WordScanner scanner(question); words.size() < most_words && scanner.next();)
    words.emplace_back(scanner.folded());
  return words;
}

template <std::size_t N>
std::optional<std::size_t> place_in(const std::array<std::string_view, N>& list, std::string_view word) {
  const auto found = std::ranges::find(list, word);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

constexpr std::array<std::string_view, 21> numbers{
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
constexpr std::array<std::string_view, 12> months{"january",   "february", "march",    "april",
                                                  "may",       "june",     "july",     "august",
                                                  "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> weekdays{"sunday",   "monday", "tuesday", "wednesday",
                                                   "thursday", "friday", "saturday"};
constexpr std::array<std::string_view, 5> seasons{"spring", "summer", "fall", "autumn", "winter"};
constexpr std::array<unsigned, 5> season_months{3, 6, 9, 9, 12};

struct Unit {
  double days;
  double vague;  // days that "ago" may be off by
};

std::optional<Unit> unit_named(std::string_view word) {
  if (word.ends_with('s')) word.remove_suffix(1);
  if (word == "day") return Unit{1, 1};
  if (word == "week" || word == "weekend") return Unit{7, 3};
  if (word == "month") return Unit{30.4, 12};
  if (word == "year") return Unit{365.25, 120};
  return std::nullopt;
}

// "15", "15th"
std::optional<unsigned> digits_in(std::string_view word) {
  unsigned value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string_view rest(read.ptr, word.data() + word.size());
  if (read.ec != std::errc() || read.ptr == word.data()) return std::nullopt;
  if (!rest.empty() && rest != "st" && rest != "nd" && rest != "rd" && rest != "th") return std::nullopt;
  return value;
}

// How many, as said directly before the word at `at`; `from`: where that begins.
struct Amount {
  double count;
  std::size_t from;
};

std::optional<Amount> amount_before(const Words& words, std::size_t at) {
  if (at == 0) return std::nullopt;
  const std::string& word = words[at - 1];
  if (const auto value = digits_in(word); value && *value <= 1'000) return Amount{double(*value), at - 1};
  if (const auto place = place_in(numbers, word)) return Amount{static_cast<double>(*place), at - 1};
  if (word == "few") return Amount{3, at - 1};
  if (word == "several") return Amount{4, at - 1};
  if (word == "of" && at >= 2 && words[at - 2] == "couple") return Amount{2, at - 2};
  if (word == "couple") return Amount{2, at - 1};
  if (word == "a" || word == "an") return Amount{1, at - 1};
  return std::nullopt;
}

bool is_last(std::string_view word) {
  return word == "last" || word == "past" || word == "previous";
}

std::int64_t rounded(double days) {
  return std::llround(days);
}

class Reader {
 public:
  Reader(std::string_view question, std::int64_t today)
      : words_(words_in(question)), today_(today), date_(sys_days(std::chrono::days(today))) {}

  std::vector<DayRange> run() && {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if (const auto unit = unit_named(words_[at])) read_unit(at, *unit);
      if (const auto place = place_in(weekdays, words_[at])) read_weekday(at, static_cast<unsigned>(*place));
      if (const auto place = place_in(months, words_[at])) read_month(at, static_cast<unsigned>(*place) + 1);
      if (const auto place = place_in(seasons, words_[at])) read_season(at, season_months[*place]);
      if (words_[at] == "yesterday") add(today_ - 1, today_);
    }
    return std::move(found_);
  }

 private:
  std::string_view before(std::size_t at, std::size_t by = 1) const {
    return at >= by ? std::string_view(words_[at - by]) : std::string_view();
  }
  std::string_view after(std::size_t at, std::size_t by = 1) const {
    return at + by < words_.size() ? std::string_view(words_[at + by]) : std::string_view();
  }
  void add(std::int64_t first, std::int64_t last) { found_.push_back({first, last}); }

  void read_unit(std::size_t at, const Unit& unit) {
    const auto amount = amount_before(words_, at);
    if (amount && after(at) == "ago") {
      const double days = amount->count * unit.days, vague = std::max(unit.vague, days / 10);
      add(today_ - rounded(days + vague), today_ - rounded(days - vague));
    } else if (amount && is_last(before(amount->from))) {
      add(today_ - rounded(amount->count * unit.days * 1.1) - 1, today_);
    } else if (is_last(before(at))) {
      add(today_ - rounded(2 * unit.days), today_);
    } else if (before(at) == "this") {
      add(today_ - rounded(unit.days), today_);
    }
  }

  void read_weekday(std::size_t at, unsigned weekday) {
    if (!is_last(before(at)) && before(at) != "this" && before(at) != "on") return;
    const unsigned now = std::chrono::weekday(sys_days(date_)).c_encoding();
    const unsigned back = (now + 7 - weekday) % 7;
    add(today_ - (back == 0 ? 7 : back), today_ - (back == 0 ? 7 : back));
  }

  void read_month(std::size_t at, unsigned month) {
    constexpr std::array<std::string_view, 14> leads{"in",   "of",      "since", "from",  "until",
                                                     "last", "early",   "late",  "mid",   "by",
                                                     "on",   "between", "and",   "during"};
    const auto next = digits_in(after(at));
    const bool is_verb =
        (month == 3 || month == 5) && !place_in(leads, before(at)) && !next;  // "may", "march"
    if (is_verb) return;
    std::optional<unsigned> day = next && *next >= 1 && *next <= 31 ? next : std::nullopt;
    const auto year_word = digits_in(after(at, day ? 2 : 1));
    if (!day && before(at) == "of") day = digits_in(before(at, 2));
    int year = int(date_.year()) - (month <= unsigned(date_.month()) ? 0 : 1);
    if (year_word && *year_word >= 1'900 && *year_word < 2'200) year = static_cast<int>(*year_word);
    const std::chrono::year_month named{std::chrono::year(year), std::chrono::month(month)};
    if (day) {
      const auto date = named / std::chrono::day(*day);
      if (!date.ok()) return;
      const std::int64_t exact = sys_days(date).time_since_epoch().count();
      return add(exact - 1, exact + 10);
    }
    add(sys_days(named / 1).time_since_epoch().count(),
        sys_days(named / std::chrono::last).time_since_epoch().count() + 7);
  }

  void read_season(std::size_t at, unsigned month) {
    if (!is_last(before(at)) && before(at) != "this") return;
    const int year = int(date_.year()) - (month <= unsigned(date_.month()) ? 0 : 1);
    const auto first = std::chrono::year(year) / std::chrono::month(month) / 1;
    const std::int64_t begin = sys_days(first).time_since_epoch().count();
    add(begin, begin + 92);
  }

  Words words_;
  std::int64_t today_;
  std::chrono::year_month_day date_;
  std::vector<DayRange> found_;
};

}  // namespace

std::vector<DayRange> days_named(std::string_view question, std::int64_t today) {
  return Reader(question, today).run();
}

}  // namespace plimsoll::conversation
