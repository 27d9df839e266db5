// Every aarch64 processor has NEON, so this needs no check at run time.
#include <arm_neon.h>

#include "count/split/classify_loop.hpp"

namespace plimsoll::count {
namespace {

struct NeonLanes {
  explicit NeonLanes(const std::uint8_t* ascii) : low(vld1q_u8_x4(ascii)), high(vld1q_u8_x4(ascii + 64)) {}

  std::uint64_t look_up(const unsigned char* in, std::uint8_t* out) const {
    uint8x16_t wide[4];
    for (int i = 0; i < 4; ++i) {
      const uint8x16_t text = vld1q_u8(in + i * 16);
      wide[i] = vcgeq_u8(text, vdupq_n_u8(0x80));
      // An index outside a table gives 0, so each half handles its own bytes.
      const uint8x16_t found =
          vorrq_u8(vqtbl4q_u8(low, text), vqtbl4q_u8(high, vsubq_u8(text, vdupq_n_u8(64))));
      vst1q_u8(out + i * 16, found);
    }
    return gather(wide);
  }

  std::uint64_t mask_of(const std::uint8_t* bytes, std::uint8_t bit) const {
    uint8x16_t set[4];
    for (int i = 0; i < 4; ++i) set[i] = vtstq_u8(vld1q_u8(bytes + i * 16), vdupq_n_u8(bit));
    return gather(set);
  }

  std::uint64_t mask_equal(const unsigned char* in, unsigned char wanted) const {
    uint8x16_t set[4];
    for (int i = 0; i < 4; ++i) set[i] = vceqq_u8(vld1q_u8(in + i * 16), vdupq_n_u8(wanted));
    return gather(set);
  }

  // Converts 64 bytes of all ones or zeros to 64 bits: weights each by its position in eight, then adds
  // pairs.
  static std::uint64_t gather(const uint8x16_t* set) {
    static constexpr std::uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    const uint8x16_t a = vpaddq_u8(vandq_u8(set[0], weight), vandq_u8(set[1], weight));
    const uint8x16_t b = vpaddq_u8(vandq_u8(set[2], weight), vandq_u8(set[3], weight));
    const uint8x16_t c = vpaddq_u8(a, b);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(c, c)), 0);
  }

  uint8x16x4_t low, high;
};

}  // namespace

void classify_neon(std::string_view text, const ClassTable& table, Classes& out) {
  classify_with<NeonLanes>(text, table, out);
}

}  // namespace plimsoll::count
