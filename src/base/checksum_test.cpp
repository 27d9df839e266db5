#include "base/checksum.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll::base {
namespace {

TEST(Checksum, IsTheSameHoweverTheBytesAreCut) {
  std::vector<std::byte> bytes(1000);
  std::mt19937 rng{5};
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
  Checksum whole;
  whole.update(bytes);
  for (int round = 0; round < 100; ++round) {
    Checksum parts;
    for (std::span<const std::byte> rest = bytes; !rest.empty();) {
      const std::size_t taken = std::min<std::size_t>(rng() % 70, rest.size());
      parts.update(rest.first(taken));
      rest = rest.subspan(taken);
    }
    EXPECT_EQ(parts.value(), whole.value());
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    Checksum other;
    other.update(bytes);
    EXPECT_NE(other.value(), whole.value()) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

}  // namespace
}  // namespace plimsoll::base
