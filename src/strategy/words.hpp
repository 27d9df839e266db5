// A query as the words that signals are compared with: case and forms folded, punctuation gone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::strategy {

class Words {
 public:
  // Letters and digits make words; case, full-width forms and invisible characters do not matter. Spaces,
  // hyphens, underscores and apostrophes join two words of a phrase, other characters part them; so do
  // scripts without spaces, so that a Latin word between Chinese ones is found. Broken UTF-8 parts too.
  explicit Words(std::string_view query);

  std::size_t size() const { return list_.size(); }
  std::string_view operator[](std::size_t i) const {
    return std::string_view(folded_).substr(list_[i].start, list_[i].size);
  }
  // Whether nothing but joining characters stands between this word and the one before.
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

// The words of a signal, which are separated by single spaces.
std::vector<std::string_view> words_of_signal(std::string_view signal);

// `word` is `base`, or base with -s, -es (after a hiss: planes are no plans), -d (after e), -ed, -ing, -ly;
// a final e may give way to -ing, a final y to -ies or -ied.
bool inflected(std::string_view word, std::string_view base);

}  // namespace plimsoll::strategy
