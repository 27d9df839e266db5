// Compiled with -mavx512bw -mavx512vbmi; called only if the CPU supports both.
#include <immintrin.h>

#include "count/split/classify_loop.hpp"

namespace plimsoll::count {
namespace {

struct Avx512Lanes {
  explicit Avx512Lanes(const std::uint8_t* ascii)
      : low(_mm512_loadu_si512(ascii)), high(_mm512_loadu_si512(ascii + 64)) {}

  std::uint64_t look_up(const unsigned char* in, std::uint8_t* out) const {
    const __m512i text = _mm512_loadu_si512(in);
    const std::uint64_t wide = _mm512_movepi8_mask(text);
    _mm512_storeu_si512(out, _mm512_maskz_permutex2var_epi8(~wide, low, text, high));
    return wide;
  }

  std::uint64_t mask_of(const std::uint8_t* bytes, std::uint8_t bit) const {
    return _mm512_test_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(static_cast<char>(bit)));
  }

  std::uint64_t mask_equal(const unsigned char* in, unsigned char wanted) const {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(in), _mm512_set1_epi8(static_cast<char>(wanted)));
  }

  __m512i low, high;
};

}  // namespace

void classify_avx512(std::string_view text, const ClassTable& table, Classes& out) {
  classify_with<Avx512Lanes>(text, table, out);
}

}  // namespace plimsoll::count
