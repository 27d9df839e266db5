// Splits a query into words for comparison with signals: case and forms folded, without punctuation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::strategy {

class Words {
 public:
  // Words consist of letters and digits; case, full-width forms and invisible characters do not matter.
  // Spaces, hyphens, underscores and apostrophes join two words of a phrase; other characters separate them,
  // as do scripts without spaces, so that a Latin word between Chinese ones is found. Invalid UTF-8 separates
  // too.
  explicit Words(std::string_view query);

  std::size_t size() const { return list_.size(); }
  std::string_view operator[](std::size_t i) const {
    return std::string_view(folded_).substr(list_[i].start, list_[i].size);
  }
  // Returns whether only joining characters are between this word and the previous one.
  bool joined(std::size_t i) const { return list_[i].joined; }

 private:
  struct Place {
    std::size_t start, size;
    bool joined;
  };
  void split();

  std::string folded_;
  std::vector<Place> list_;
};

// Splits a signal at single spaces.
std::vector<std::string_view> words_of_signal(std::string_view signal);

// Returns whether `word` is `base`, or base with -s, -es (after a sibilant: "planes" is not "plans"), -d
// (after e), -ed, -ing, -ly; -ing may replace a final e, -ies or -ied a final y.
bool inflected(std::string_view word, std::string_view base);

}  // namespace plimsoll::strategy
