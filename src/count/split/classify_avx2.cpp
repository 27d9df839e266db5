// Compiled with -mavx2; called only if the CPU supports it.
#include <immintrin.h>

#include "count/split/classify_loop.hpp"

namespace plimsoll::count {
namespace {

struct Avx2Lanes {
  explicit Avx2Lanes(const std::uint8_t* ascii) {
    for (int row = 0; row < 8; ++row) {
      rows[row] =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(ascii + row * 16)));
    }
  }

  // A table of 128 is eight tables of sixteen, one for each high nibble.
  __m256i look_up_32(__m256i in) const {
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(in, 4), _mm256_set1_epi8(0x0f));
    __m256i found = _mm256_setzero_si256();
    for (int row = 0; row < 8; ++row) {
      const __m256i ours = _mm256_cmpeq_epi8(high, _mm256_set1_epi8(static_cast<char>(row)));
      found = _mm256_or_si256(found, _mm256_and_si256(ours, _mm256_shuffle_epi8(rows[row], in)));
    }
    return found;
  }

  std::uint64_t look_up(const unsigned char* in, std::uint8_t* out) const {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), look_up_32(a));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32), look_up_32(b));
    return join(_mm256_movemask_epi8(a), _mm256_movemask_epi8(b));
  }

  std::uint64_t mask_of(const std::uint8_t* bytes, std::uint8_t bit) const {
    // Shifts the bit to the top of each byte; bits from the neighbouring byte stay below it.
    const __m128i shift = _mm_cvtsi32_si128(std::countl_zero(bit));
    const __m256i a = _mm256_sll_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)), shift);
    const __m256i b =
        _mm256_sll_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32)), shift);
    return join(_mm256_movemask_epi8(a), _mm256_movemask_epi8(b));
  }

  std::uint64_t mask_equal(const unsigned char* in, unsigned char wanted) const {
    const __m256i all = _mm256_set1_epi8(static_cast<char>(wanted));
    const __m256i a = _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)), all);
    const __m256i b = _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 32)), all);
    return join(_mm256_movemask_epi8(a), _mm256_movemask_epi8(b));
  }

  static std::uint64_t join(int low, int high) {
    return static_cast<std::uint32_t>(low) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(high))
                                                 << 32;
  }

  __m256i rows[8];
};

}  // namespace

void classify_avx2(std::string_view text, const ClassTable& table, Classes& out) {
  classify_with<Avx2Lanes>(text, table, out);
}

}  // namespace plimsoll::count
