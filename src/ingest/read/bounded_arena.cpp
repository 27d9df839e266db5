#include "ingest/read/bounded_arena.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <time.h>

namespace plimsoll::ingest {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr std::size_t header = 16;  // stores the size of the piece and keeps it aligned

std::chrono::nanoseconds thread_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

BoundedArena::BoundedArena(std::uint64_t most_bytes, std::chrono::milliseconds most_time)
    : bytes_left_(most_bytes), end_(thread_time() + most_time) {}

void* BoundedArena::allocate(std::size_t bytes) {
  if (++calls_ % 256 == 0 && thread_time() > end_) std::longjmp(exhausted, 1);
  if (bytes > bytes_left_) std::longjmp(exhausted, 1);
  const std::size_t whole = header + ((bytes + 15) & ~std::size_t{15});
  if (whole > left_) {
    const std::size_t size = std::max(block_bytes, whole);
    if (size > bytes_left_) std::longjmp(exhausted, 1);
    bytes_left_ -= size;
    // Default-initialised, so a large block costs only the used pages. `new` aligns to 16.
    blocks_.emplace_back(new std::byte[size]);
    next_ = blocks_.back().get();
    left_ = size;
  }
  std::memcpy(next_, &bytes, sizeof bytes);
  void* const piece = next_ + header;
  next_ += whole;
  left_ -= whole;
  return piece;
}

void* BoundedArena::allocate_zeroed(std::size_t bytes) {
  return std::memset(allocate(bytes), 0, bytes);
}

void* BoundedArena::reallocate(void* piece, std::size_t bytes) {
  if (piece == nullptr) return allocate(bytes);
  std::size_t old = 0;
  std::memcpy(&old, static_cast<std::byte*>(piece) - header, sizeof old);
  if (bytes <= old) return piece;
  return std::memcpy(allocate(bytes), piece, old);
}

}  // namespace plimsoll::ingest
