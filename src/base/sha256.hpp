// SHA-256 (FIPS 180-4), for checking what was fetched and naming what was stored. Not for secrets:
// no care is taken to wipe memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::base {

class Sha256 {
 public:
  void update(std::string_view bytes);

  // The digest of everything given so far, as 64 lower-case hexadecimal digits. More may follow.
  std::string hex() const;

 private:
  void absorb(const char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<char, 64> pending_{};  // the first size_ % 64 bytes are waiting for a whole block
  std::uint64_t size_ = 0;          // bytes so far
};

std::string sha256_hex(std::string_view bytes);

}  // namespace plimsoll::base
