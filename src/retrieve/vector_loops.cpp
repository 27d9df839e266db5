#include "retrieve/vector_loops.hpp"

namespace plimsoll::retrieve {
namespace {

#if defined(__x86_64__)
#define PLIMSOLL_WIDE __attribute__((target("avx2,fma")))
#else
#define PLIMSOLL_WIDE
#endif

// Uses sixteen independent sums, so that additions do not wait for each other.
template <typename T>
__attribute__((always_inline)) inline float dot_of(const T* a, const float* b, std::size_t n) {
  constexpr std::size_t lanes = 16;
  float sums[lanes] = {};
  std::size_t d = 0;
  for (; d + lanes <= n; d += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += static_cast<float>(a[d + lane]) * b[d + lane];
  }
  for (; d < n; ++d) sums[0] += static_cast<float>(a[d]) * b[d];
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

__attribute__((always_inline)) inline void carry_of(float* carried, const float* row, float fade, float share,
                                                    float* out, std::size_t n) {
  for (std::size_t d = 0; d < n; ++d) {
    carried[d] = (carried[d] + row[d]) * fade;
    out[d] += share * carried[d];
  }
}

__attribute__((always_inline)) inline void unpack_of(const std::int8_t* in, float scale, float* out,
                                                     std::size_t n) {
  for (std::size_t d = 0; d < n; ++d) out[d] = scale * static_cast<float>(in[d]);
}

float dot_plain(const float* a, const float* b, std::size_t n) {
  return dot_of(a, b, n);
}
float dot_packed_plain(const std::int8_t* a, const float* b, std::size_t n) {
  return dot_of(a, b, n);
}
void carry_plain(float* carried, const float* row, float fade, float share, float* out, std::size_t n) {
  carry_of(carried, row, fade, share, out, n);
}
void unpack_plain(const std::int8_t* in, float scale, float* out, std::size_t n) {
  unpack_of(in, scale, out, n);
}
PLIMSOLL_WIDE float dot_wide(const float* a, const float* b, std::size_t n) {
  return dot_of(a, b, n);
}
PLIMSOLL_WIDE float dot_packed_wide(const std::int8_t* a, const float* b, std::size_t n) {
  return dot_of(a, b, n);
}
PLIMSOLL_WIDE void carry_wide(float* carried, const float* row, float fade, float share, float* out,
                              std::size_t n) {
  carry_of(carried, row, fade, share, out, n);
}
PLIMSOLL_WIDE void unpack_wide(const std::int8_t* in, float scale, float* out, std::size_t n) {
  unpack_of(in, scale, out, n);
}

}  // namespace

const VectorLoops& loops() {
  static constexpr VectorLoops plain{dot_plain, dot_packed_plain, carry_plain, unpack_plain};
  static constexpr VectorLoops wide{dot_wide, dot_packed_wide, carry_wide, unpack_wide};
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has ? wide : plain;
#else
  (void)wide;
  return plain;
#endif
}

}  // namespace plimsoll::retrieve
