// Compiled with -mavx2 -mfma; called only if the CPU supports them.
#include <immintrin.h>

#include "search/dot/dot.hpp"

namespace plimsoll::search {

namespace {

constexpr std::size_t lanes = 8;

__m256 load(const Bf16* from) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
__m256 load(const float* from) {
  return _mm256_loadu_ps(from);
}
float one(Bf16 value) {
  return to_float(value);
}
float one(float value) {
  return value;
}

template <typename B>
float dot(const Bf16* a, const B* b, std::size_t dimensions) {
  __m256 sum0 = _mm256_setzero_ps();
  __m256 sum1 = sum0;
  __m256 sum2 = sum0;
  __m256 sum3 = sum0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= dimensions; i += 4 * lanes) {
    sum0 = _mm256_fmadd_ps(load(a + i), load(b + i), sum0);
    sum1 = _mm256_fmadd_ps(load(a + i + lanes), load(b + i + lanes), sum1);
    sum2 = _mm256_fmadd_ps(load(a + i + 2 * lanes), load(b + i + 2 * lanes), sum2);
    sum3 = _mm256_fmadd_ps(load(a + i + 3 * lanes), load(b + i + 3 * lanes), sum3);
  }
  for (; i + lanes <= dimensions; i += lanes) sum0 = _mm256_fmadd_ps(load(a + i), load(b + i), sum0);
  alignas(32) float sums[lanes];
  _mm256_store_ps(sums, _mm256_add_ps(_mm256_add_ps(sum0, sum1), _mm256_add_ps(sum2, sum3)));
  float sum = 0;
  for (const float part : sums) sum += part;
  for (; i < dimensions; ++i) sum += to_float(a[i]) * one(b[i]);
  return sum;
}

}  // namespace

float dot_avx2(const Bf16* a, const float* b, std::size_t dimensions) {
  return dot(a, b, dimensions);
}

float dot_both_avx2(const Bf16* a, const Bf16* b, std::size_t dimensions) {
  return dot(a, b, dimensions);
}

}  // namespace plimsoll::search
