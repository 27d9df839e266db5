// Compiled with -mavx512f -mavx512bw; called only if the CPU supports them.
#include <immintrin.h>

#include "search/dot/dot.hpp"

namespace plimsoll::search {

namespace {

constexpr std::size_t lanes = 16;

__m512 load(const Bf16* from) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
__m512 load(const float* from) {
  return _mm512_loadu_ps(from);
}
float one(Bf16 value) {
  return to_float(value);
}
float one(float value) {
  return value;
}

template <typename B>
float dot(const Bf16* a, const B* b, std::size_t dimensions) {
  __m512 sum0 = _mm512_setzero_ps();
  __m512 sum1 = sum0;
  __m512 sum2 = sum0;
  __m512 sum3 = sum0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= dimensions; i += 4 * lanes) {
    sum0 = _mm512_fmadd_ps(load(a + i), load(b + i), sum0);
    sum1 = _mm512_fmadd_ps(load(a + i + lanes), load(b + i + lanes), sum1);
    sum2 = _mm512_fmadd_ps(load(a + i + 2 * lanes), load(b + i + 2 * lanes), sum2);
    sum3 = _mm512_fmadd_ps(load(a + i + 3 * lanes), load(b + i + 3 * lanes), sum3);
  }
  for (; i + lanes <= dimensions; i += lanes) sum0 = _mm512_fmadd_ps(load(a + i), load(b + i), sum0);
  float sum = _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sum0, sum1), _mm512_add_ps(sum2, sum3)));
  for (; i < dimensions; ++i) sum += to_float(a[i]) * one(b[i]);
  return sum;
}

}  // namespace

float dot_avx512(const Bf16* a, const float* b, std::size_t dimensions) {
  return dot(a, b, dimensions);
}

float dot_both_avx512(const Bf16* a, const Bf16* b, std::size_t dimensions) {
  return dot(a, b, dimensions);
}

}  // namespace plimsoll::search
