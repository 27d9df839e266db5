// A cache of pre-token counts. A key is a whole pre-token, so a hit is exact.
//
// Pieces of up to 15 bytes, nearly all, are in sets of four 16-byte entries, one cache line:
// the text, with its length and its count in four bits each. Longer ones are in a hash table that
// points to their bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/huge_array.hpp"

namespace plimsoll::count {

// Mask of the bits that a piece of n bytes uses in two words.
struct PieceMask {
  std::uint64_t low, high;
};
inline constexpr std::array<PieceMask, 17> piece_masks = [] {
  std::array<PieceMask, 17> all{};  // zero for 16 bytes or more
  for (std::size_t n = 0; n < 16; ++n) {
    all[n].low = n >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * n)) - 1;
    all[n].high = n <= 8 ? 0 : (std::uint64_t{1} << (8 * (n - 8))) - 1;
  }
  return all;
}();

class PieceCache {
 public:
  static constexpr std::size_t longest_short = 15;
  static constexpr std::size_t longest_long = std::size_t{1} << 20;

  struct Key {
    std::uint64_t low, high;  // bytes 0–7; bytes 8–14 and the length in bits 56–59
  };

  PieceCache() : sets_(std::size_t{1} << set_bits) {}

  // Always reads 16 bytes at p. A long piece gets a key that is never found.
  static Key key_of(const char* p, std::size_t length) {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), p, 16);
    const std::size_t capped = length < 16 ? length : 16;
    const PieceMask& mask = piece_masks[capped];
    return {words[0] & mask.low, (words[1] & mask.high) | static_cast<std::uint64_t>(capped & 15) << 56};
  }

  // Returns the set of a short piece, for find_short and put_short.
  static std::size_t set_of(Key key) {
    const std::uint64_t mixed = (key.low ^ (key.high * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
    return static_cast<std::size_t>(mixed >> (64 - set_bits));
  }

  void prefetch(std::size_t set) const { __builtin_prefetch(&sets_[set]); }

  // 0: not found. Checks two entries without a branch, which would be mispredicted; early, and so probably
  // common, pieces are in the first two.
  unsigned find_short(Key key, std::size_t set) const {
    const Set& s = sets_[set];
    const auto count_in = [&](const Key& entry) {
      const bool ours = ((entry.low ^ key.low) | ((entry.high & text_bits) ^ key.high)) == 0;
      return static_cast<unsigned>(entry.high >> 60) & (0U - static_cast<unsigned>(ours));
    };
    const unsigned early = count_in(s[0]) | count_in(s[1]);
    return early != 0 ? early : count_in(s[2]) | count_in(s[3]);
  }

  void put_short(Key key, std::size_t set, std::size_t count) {
    if (count == 0 || count > 15) return;  // 0 means "not found"
    Set& s = sets_[set];
    std::size_t way = 0;
    while (way < 3 && s[way].high != 0) ++way;
    if (way == 3) s[2] = s[3];
    s[way] = {key.low, key.high | static_cast<std::uint64_t>(count) << 60};
  }

  static std::uint64_t hash_of(std::string_view piece) {
    std::uint64_t hash = piece.size() * 0x9E3779B97F4A7C15ULL;
    std::size_t i = 0;
    std::uint64_t word;
    for (; i + 8 <= piece.size(); i += 8) {
      std::memcpy(&word, piece.data() + i, 8);
      hash = fold(hash ^ word);
    }
    if (i < piece.size()) {
      std::memcpy(&word, piece.data() + piece.size() - 8, 8);  // a long piece has at least eight bytes
      hash = fold(hash ^ word);
    }
    return hash;
  }

  unsigned find_long(std::string_view piece, std::uint64_t hash) const {
    if (longs_.empty()) return 0;
    const Long& entry = longs_[hash >> (64 - long_bits)];
    const bool ours = entry.tag == static_cast<std::uint32_t>(hash) && entry.length == piece.size() &&
                      std::memcmp(arena_.data() + entry.offset, piece.data(), piece.size()) == 0;
    return ours ? entry.count : 0;
  }

  void put_long(std::string_view piece, std::uint64_t hash, std::size_t count);

 private:
  static constexpr unsigned set_bits = 15;  // 2 MB, the size of an L2 cache
  static constexpr unsigned long_bits = 16;
  static constexpr std::size_t arena_limit = std::size_t{8} << 20;
  static constexpr std::uint64_t text_bits = ~std::uint64_t{0} >> 4;

  static std::uint64_t fold(std::uint64_t x) {
    x *= 0xD6E8FEB86659FD93ULL;
    return x ^ (x >> 29);
  }

  using Set = std::array<Key, 4>;
  struct Long {
    std::uint32_t tag = 0, offset = 0;
    std::uint32_t length = 0, count = 0;
  };

  base::HugeArray<Set> sets_;
  std::vector<Long> longs_;  // allocated at the first long piece
  std::vector<char> arena_;
};

inline void PieceCache::put_long(std::string_view piece, std::uint64_t hash, std::size_t count) {
  if (longs_.empty()) longs_.resize(std::size_t{1} << long_bits);
  if (arena_.size() + piece.size() > arena_limit) {
    arena_.clear();
    longs_.assign(longs_.size(), {});
  }
  longs_[hash >> (64 - long_bits)] = {
      static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(arena_.size()),
      static_cast<std::uint32_t>(piece.size()), static_cast<std::uint32_t>(count)};
  arena_.insert(arena_.end(), piece.begin(), piece.end());
}

}  // namespace plimsoll::count
