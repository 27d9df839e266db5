// Packs integers with as few bits as the largest needs. Groups of eight fill whole bytes, so n numbers of
// `width` bits take packed_bytes(n, width).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plimsoll::search {

inline constexpr std::size_t block_postings = 128;
inline constexpr std::size_t unpack_slack = 8;  // bytes after the last run that unpacking may read

constexpr std::size_t packed_bytes(std::size_t count, unsigned width) {
  return (count + 7) / 8 * width;
}

unsigned bits_for(std::uint32_t largest);

void pack(std::span<const std::uint32_t> values, unsigned width, std::vector<std::uint8_t>& out);

// `width` is at most 32. Writes whole groups of eight: `out` must have room for them.
void unpack(const std::uint8_t* bytes, std::size_t count, unsigned width, std::uint32_t* out);

}  // namespace plimsoll::search
