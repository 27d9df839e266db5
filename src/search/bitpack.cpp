#include "search/bitpack.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace plimsoll::search {

namespace {

template <unsigned width>
void unpack_groups(const std::uint8_t* bytes, std::size_t groups, std::uint32_t* out) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  for (std::size_t group = 0; group < groups; ++group, bytes += width, out += 8) {
    for (unsigned i = 0; i < 8; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i * width / 8, 8);
      out[i] = static_cast<std::uint32_t>((word >> (i * width % 8)) & mask);
    }
  }
}

using UnpackGroups = void (*)(const std::uint8_t*, std::size_t, std::uint32_t*);

template <std::size_t... widths>
constexpr std::array<UnpackGroups, sizeof...(widths)> all_widths(std::index_sequence<widths...>) {
  return {unpack_groups<widths>...};
}

constexpr auto unpackers = all_widths(std::make_index_sequence<33>());

}  // namespace

unsigned bits_for(std::uint32_t largest) {
  return static_cast<unsigned>(std::bit_width(largest));
}

void pack(std::span<const std::uint32_t> values, unsigned width, std::vector<std::uint8_t>& out) {
  const std::size_t end = out.size() + packed_bytes(values.size(), width);
  std::uint64_t waiting = 0;
  unsigned bits = 0;
  for (const std::uint32_t value : values) {
    waiting |= std::uint64_t{value} << bits;
    for (bits += width; bits >= 8; bits -= 8, waiting >>= 8U)
      out.push_back(static_cast<std::uint8_t>(waiting));
  }
  if (bits > 0) out.push_back(static_cast<std::uint8_t>(waiting));
  out.resize(end);
}

void unpack(const std::uint8_t* bytes, std::size_t count, unsigned width, std::uint32_t* out) {
  unpackers[width](bytes, (count + 7) / 8, out);
}

}  // namespace plimsoll::search
