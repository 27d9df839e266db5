// A bit set for marking chunks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plimsoll::search {

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::size_t size) : words_((size + 63) / 64), size_(size) {}

  std::size_t size() const { return size_; }
  bool test(std::size_t i) const { return ((words_[i / 64] >> (i % 64)) & 1U) != 0; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }

  std::size_t count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }

  // New bits are 0.
  void grow(std::size_t size) {
    words_.resize((size + 63) / 64);
    size_ = size;
  }

  void clear_those_of(const Bits& other) {
    for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) words_[i] &= ~other.words_[i];
  }

  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        visit(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace plimsoll::search
