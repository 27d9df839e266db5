// The header of a vectors file, for reading, writing and fuzzing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plimsoll::search {

inline constexpr std::array<char, 8> vectors_magic{'P', 'L', 'I', 'M', 'V', 'E', 'C', '\n'};
inline constexpr std::uint32_t vectors_schema = 1;

struct VectorsHeader {
  std::array<char, 8> magic{};
  std::uint32_t schema = 0;
  std::uint32_t dimensions = 0;
  std::uint32_t vectors = 0;
  std::uint32_t nodes = 0;  // of the graph; 0: no graph
  std::uint32_t upper_rows = 0;
  std::uint32_t unused = 0;
  std::uint64_t entry = 0;
  std::uint64_t bytes = 0;     // in total
  std::uint64_t checksum = 0;  // of everything, with 0 here
  std::int64_t index = 0;
  std::int64_t revision = 0;
  std::int64_t highest = 0;
};

std::uint64_t bytes_for(const VectorsHeader& header);
// Returns the checksum for the header.
std::uint64_t checksum_of_vectors(std::span<const std::byte> file);

}  // namespace plimsoll::search
