#include "grounding/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/text/text.hpp"

namespace plimsoll::grounding {
namespace {

using base::is_digit;
using base::is_letter;

using namespace std::string_view_literals;

bool is_name_part(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || (c & '\x80') != 0;
}

constexpr std::array number_words{"zero"sv,  "one"sv,   "two"sv,  "three"sv, "four"sv,   "five"sv,  "six"sv,
                                  "seven"sv, "eight"sv, "nine"sv, "ten"sv,   "eleven"sv, "twelve"sv};

struct Scale {
  std::string_view name;
  double factor;
};
constexpr std::array scales{Scale{"hundred"sv, 1e2}, Scale{"thousand"sv, 1e3},  Scale{"million"sv, 1e6},
                            Scale{"billion"sv, 1e9}, Scale{"trillion"sv, 1e12}, Scale{"k"sv, 1e3},
                            Scale{"bn"sv, 1e9},      Scale{"mn"sv, 1e6}};

struct UnitName {
  std::string_view written, unit;
};
constexpr std::array unit_names{
    UnitName{"percent"sv, "%"sv},      UnitName{"per cent"sv, "%"sv},      UnitName{"dollar"sv, "$"sv},
    UnitName{"dollars"sv, "$"sv},      UnitName{"usd"sv, "$"sv},           UnitName{"euro"sv, "eur"sv},
    UnitName{"euros"sv, "eur"sv},      UnitName{"eur"sv, "eur"sv},         UnitName{"pounds"sv, "pound"sv},
    UnitName{"kg"sv, "kg"sv},          UnitName{"kilograms"sv, "kg"sv},    UnitName{"km"sv, "km"sv},
    UnitName{"kilometres"sv, "km"sv},  UnitName{"kilometers"sv, "km"sv},   UnitName{"mi"sv, "mile"sv},
    UnitName{"miles"sv, "mile"sv},     UnitName{"mile"sv, "mile"sv},       UnitName{"feet"sv, "foot"sv},
    UnitName{"ft"sv, "foot"sv},        UnitName{"cm"sv, "cm"sv},           UnitName{"mm"sv, "mm"sv},
    UnitName{"ms"sv, "ms"sv},          UnitName{"milliseconds"sv, "ms"sv}, UnitName{"s"sv, "second"sv},
    UnitName{"seconds"sv, "second"sv}, UnitName{"second"sv, "second"sv},   UnitName{"minutes"sv, "minute"sv},
    UnitName{"minute"sv, "minute"sv},  UnitName{"min"sv, "minute"sv},      UnitName{"hours"sv, "hour"sv},
    UnitName{"hour"sv, "hour"sv},      UnitName{"days"sv, "day"sv},        UnitName{"day"sv, "day"sv},
    UnitName{"weeks"sv, "week"sv},     UnitName{"week"sv, "week"sv},       UnitName{"months"sv, "month"sv},
    UnitName{"month"sv, "month"sv},    UnitName{"years"sv, "year"sv},      UnitName{"year"sv, "year"sv},
    UnitName{"kb"sv, "kb"sv},          UnitName{"mb"sv, "mb"sv},           UnitName{"gb"sv, "gb"sv},
    UnitName{"tb"sv, "tb"sv},          UnitName{"kib"sv, "kib"sv},         UnitName{"mib"sv, "mib"sv},
    UnitName{"gib"sv, "gib"sv},        UnitName{"bytes"sv, "byte"sv},      UnitName{"byte"sv, "byte"sv},
    UnitName{"tokens"sv, "token"sv},   UnitName{"token"sv, "token"sv}};

// Returns a number as it is compared: without separators and without zeros that say nothing.
std::string value_text(double value) {
  return fmt::format("{:.12g}", value);
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Number> run() && {
    while (at_ < text_.size()) {
      if (is_digit(text_[at_])) {
        read_digits();
      } else if (is_name_part(text_[at_])) {
        read_name();
      } else {
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  std::size_t digits_end(std::size_t at) const {
    while (is_digit(peek(at))) ++at;
    return at;
  }

  // Skips a name such as "x86" or "gpt-4o"; a word that is a number is kept.
  void read_name() {
    const std::size_t start = at_;
    std::size_t end = start;
    while (is_name_part(peek(end)) ||
           (peek(end) == '-' && end > start && is_name_part(peek(end + 1)) && !is_digit(peek(end + 1))))
      ++end;
    // "SHA-256" and "GPT-4": digits after a name in capitals belong to it.
    const bool capitals =
        end - start >= 2 && std::ranges::all_of(text_.substr(start, end - start),
                                                [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c); });
    if (capitals && peek(end) == '-' && is_digit(peek(end + 1))) do
        ++end;
      while (is_name_part(peek(end)));
    at_ = end;
    const std::string word = base::to_lower_ascii(text_.substr(start, end - start));
    const auto known = std::ranges::find(number_words, std::string_view(word));
    if (known == number_words.end()) return;
    Number number;
    number.span = {start, end};
    number.is_word = true;
    finish(number, static_cast<double>(known - number_words.begin()), "");
  }

  void read_digits() {
    const std::size_t start = at_;
    std::string digits;
    std::size_t end = digits_end(start);
    digits.append(text_.substr(start, end - start));
    bool groups = digits.size() <= 3;
    while (groups && peek(end) == ',' && digits_end(end + 1) == end + 4) {
      digits.append(text_.substr(end + 1, 3));
      end += 4;
    }
    std::size_t points = 0;
    while (peek(end) == '.' && is_digit(peek(end + 1))) {
      const std::size_t next = digits_end(end + 1);
      digits.append(text_.substr(end, next - end));
      end = next;
      ++points;
    }
    Number number;
    number.span = {start, end};
    const bool half = points == 0 && start > 0 && text_[start - 1] == '.' &&
                      (start == 1 || !is_name_part(text_[start - 2]));
    if (half) digits.insert(0, "0.");  // ".5"
    at_ = end;
    if (points > 1) {  // a version or an address
      number.value = digits;
      found_.push_back(std::move(number));
      return;
    }
    std::size_t letters = end;
    while (is_name_part(peek(letters))) ++letters;
    const std::string suffix = base::to_lower_ascii(text_.substr(end, letters - end));
    if (!suffix.empty() && !is_suffix(suffix)) {  // "4o", "3D"
      at_ = letters;
      return;
    }
    number.is_citation = start > 0 && text_[start - 1] == '[' && is_citation_end(end);
    const bool is_ordinal = suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th";
    const bool is_decade = suffix == "s" && digits.size() == 4 && digits.ends_with('0');
    if (is_ordinal || is_decade) {
      at_ = end = letters;
      number.span.end = end;
    }
    finish(number, std::strtod(digits.c_str(), nullptr), currency_before(start));
  }

  static bool is_suffix(std::string_view word) {
    constexpr std::array endings{"st"sv, "nd"sv, "rd"sv, "th"sv, "s"sv, "m"sv,
                                 "g"sv,  "h"sv,  "x"sv,  "px"sv, "b"sv};
    return std::ranges::find(endings, word) != endings.end() || scale_of(word) || !unit_of(word).empty();
  }

  static std::optional<double> scale_of(std::string_view word) {
    for (const Scale& scale : scales)
      if (scale.name == word) return scale.factor;
    return std::nullopt;
  }

  static std::string_view unit_of(std::string_view word) {
    for (const UnitName& one : unit_names)
      if (one.written == word) return one.unit;
    return {};
  }

  bool is_citation_end(std::size_t at) const {
    while (is_digit(peek(at)) || peek(at) == ',' || peek(at) == ' ') ++at;
    return peek(at) == ']';
  }

  std::string_view currency_before(std::size_t at) const {
    if (at > 0 && text_[at - 1] == '$') return "$";
    if (at > 1 && text_.substr(at - 2, 2) == "\xC2\xA3") return "pound";
    if (at > 2 && text_.substr(at - 3, 3) == "\xE2\x82\xAC") return "eur";
    return {};
  }

  // Returns the word after `at`, past at most one blank or hyphen.
  std::string_view word_after(std::size_t at, std::size_t& start) const {
    start = at;
    if ((peek(start) == ' ' || peek(start) == '-') && is_letter(peek(start + 1))) ++start;
    std::size_t end = start;
    while (is_letter(peek(end))) ++end;
    return text_.substr(start, end - start);
  }

  // Reads the scale and the unit after a number.
  void finish(Number& number, double value, std::string_view currency) {
    constexpr double largest = 1e18;  // beyond, digits are compared as text
    std::size_t start = 0;
    for (int round = 0; round < 2; ++round) {
      const std::string word = base::to_lower_ascii(word_after(at_, start));
      const auto factor = scale_of(word);
      // "12 k" may be a letter of a list; "12k" is a number.
      if (!factor || (word.size() < 3 && start != at_)) break;
      value *= *factor;
      at_ = number.span.end = start + word.size();
    }
    if (!currency.empty()) {
      number.unit = currency;
    } else if (peek(at_) == '%' || (peek(at_) == ' ' && peek(at_ + 1) == '%')) {
      at_ += peek(at_) == '%' ? 1 : 2;
      number.span.end = at_;
      number.unit = "%";
    } else {
      const std::string word = base::to_lower_ascii(word_after(at_, start));
      const std::string_view unit =
          word == "per" && text_.substr(start, 8) == "per cent" ? "%"sv : unit_of(word);
      if (!unit.empty()) number.unit = unit;
      if (start == at_) at_ = number.span.end = start + word.size();  // "10kg"
    }
    number.value = std::abs(value) < largest
                       ? value_text(value)
                       : std::string(text_.substr(number.span.start, number.span.size()));
    found_.push_back(std::move(number));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Number> found_;
};

}  // namespace

std::vector<Number> numbers_in(std::string_view text) {
  return Scanner(text).run();
}

}  // namespace plimsoll::grounding
