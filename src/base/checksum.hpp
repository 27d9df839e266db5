// A fast 64-bit checksum (several GB/s) to detect damaged files. Not cryptographic: it does not detect
// deliberate changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plimsoll::base {

class Checksum {
 public:
  void update(std::span<const std::byte> bytes);
  // Returns the checksum of everything so far, independent of its division into pieces.
  std::uint64_t value() const;

 private:
  void absorb(const std::byte* block);

  std::array<std::uint64_t, 4> lanes_{0x9E3779B97F4A7C15U, 0xC2B2AE3D27D4EB4FU, 0x165667B19E3779F9U,
                                      0x27D4EB2F165667C5U};
  std::array<std::byte, 32> pending_{};  // size_ % 32 bytes of an incomplete block
  std::uint64_t size_ = 0;
};

}  // namespace plimsoll::base
