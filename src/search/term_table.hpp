// Assigns numbers to texts: 0, 1, and so on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::search {

class TermTable {
 public:
  // Returns the number of the text, and whether it is new.
  std::pair<std::uint32_t, bool> number_of(std::string_view text);
  std::string_view text(std::uint32_t number) const {
    return std::string_view(letters_).substr(ends_[number], ends_[number + 1] - ends_[number]);
  }
  std::size_t size() const { return ends_.size() - 1; }
  void clear();

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // from 1; 0: free
  };
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two, at most half full
  std::vector<std::uint32_t> ends_{0};
  std::string letters_;
};

}  // namespace plimsoll::search
