// Dot products of vectors in bf16, the upper half of a float.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace plimsoll::search {

using Bf16 = std::uint16_t;

inline float to_float(Bf16 value) {
  return std::bit_cast<float>(std::uint32_t{value} << 16U);
}

// Rounds to nearest, ties to even.
inline Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<Bf16>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

using Dot = float (*)(const Bf16* a, const float* b, std::size_t dimensions);
using DotBoth = float (*)(const Bf16* a, const Bf16* b, std::size_t dimensions);

struct NamedDot {
  std::string_view name;
  Dot dot;
  DotBoth dot_both;
};

// Returns the implementations that this CPU supports, the fastest last.
std::span<const NamedDot> all_dots();
inline const NamedDot& fastest_dot() {
  return all_dots().back();
}

// For one kind of CPU each.
float dot_avx2(const Bf16* a, const float* b, std::size_t dimensions);
float dot_both_avx2(const Bf16* a, const Bf16* b, std::size_t dimensions);
float dot_avx512(const Bf16* a, const float* b, std::size_t dimensions);
float dot_both_avx512(const Bf16* a, const Bf16* b, std::size_t dimensions);

}  // namespace plimsoll::search
