#include "count/split/classify_loop.hpp"

namespace plimsoll::count {
namespace {

struct PortableLanes {
  explicit PortableLanes(const std::uint8_t* ascii) : table(ascii) {}

  std::uint64_t look_up(const unsigned char* in, std::uint8_t* out) const {
    std::uint64_t wide = 0;
    for (unsigned i = 0; i < 64; ++i) {
      wide |= static_cast<std::uint64_t>(in[i] >> 7) << i;
      out[i] = in[i] < 128 ? table[in[i]] : 0;
    }
    return wide;
  }

  std::uint64_t mask_of(const std::uint8_t* bytes, std::uint8_t bit) const {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < 64; ++i) mask |= static_cast<std::uint64_t>((bytes[i] & bit) != 0) << i;
    return mask;
  }

  std::uint64_t mask_equal(const unsigned char* in, unsigned char wanted) const {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < 64; ++i) mask |= static_cast<std::uint64_t>(in[i] == wanted) << i;
    return mask;
  }

  const std::uint8_t* table;
};

}  // namespace

void classify_portable(std::string_view text, const ClassTable& table, Classes& out) {
  classify_with<PortableLanes>(text, table, out);
}

}  // namespace plimsoll::count
