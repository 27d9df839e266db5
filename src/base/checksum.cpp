#include "base/checksum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plimsoll::base {

namespace {

constexpr std::uint64_t prime = 0x9FB21C651E98DF25U;

// Rotates and multiplies, so that swapped words and runs of zeros change the result.
std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane ^ (word * prime), 27) * 0xC2B2AE3D27D4EB4FU;
}

}  // namespace

void Checksum::absorb(const std::byte* block) {
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), block, 32);
  for (std::size_t i = 0; i < 4; ++i) lanes_[i] = mixed(lanes_[i], words[i]);
}

void Checksum::update(std::span<const std::byte> bytes) {
  const std::size_t waiting = size_ % 32;
  size_ += bytes.size();
  if (waiting != 0) {
    const std::size_t taken = std::min(bytes.size(), 32 - waiting);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(waiting));
    bytes = bytes.subspan(taken);
    if (waiting + taken < 32) return;
    absorb(pending_.data());
  }
  while (bytes.size() >= 32) {
    absorb(bytes.data());
    bytes = bytes.subspan(32);
  }
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

std::uint64_t Checksum::value() const {
  Checksum last = *this;
  std::fill(last.pending_.begin() + static_cast<std::ptrdiff_t>(size_ % 32), last.pending_.end(),
            std::byte{0});
  last.absorb(last.pending_.data());
  std::uint64_t sum = size_;
  for (const std::uint64_t lane : last.lanes_) sum = mixed(sum, lane);
  return sum ^ (sum >> 31U);
}

}  // namespace plimsoll::base
