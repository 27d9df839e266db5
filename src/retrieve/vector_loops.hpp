// Loops over vector dimensions, for the widest registers of this CPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::retrieve {

struct VectorLoops {
  float (*dot)(const float* a, const float* b, std::size_t n);
  float (*dot_packed)(const std::int8_t* a, const float* b, std::size_t n);
  // carried = (carried + row) * fade; out += share * carried
  void (*carry)(float* carried, const float* row, float fade, float share, float* out, std::size_t n);
  // out = scale * in
  void (*unpack)(const std::int8_t* in, float scale, float* out, std::size_t n);
};
const VectorLoops& loops();

}  // namespace plimsoll::retrieve
