// Bounded memory for a C library without limits of its own. Everything is freed at once, not node by node. If
// the library needs too much memory or time, it is aborted with
// longjmp:
//
//   BoundedArena arena(most_bytes, most_time);
//   if (setjmp(arena.exhausted) != 0) return too_much;
//   tree = parse(..., [](void* arena, size_t n) { return static_cast<BoundedArena*>(arena)->allocate(n); });
//
// Between the two no C++ object with a destructor may be created on the stack.
#pragma once

#include <chrono>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace plimsoll::ingest {

class BoundedArena {
 public:
  // The time is CPU time of this thread.
  BoundedArena(std::uint64_t most_bytes, std::chrono::milliseconds most_time);

  // Aligned to 16 bytes; jumps to `exhausted` instead of failing.
  void* allocate(std::size_t bytes);
  void* allocate_zeroed(std::size_t bytes);
  // Like realloc; null is an empty piece.
  void* reallocate(void* piece, std::size_t bytes);

  std::jmp_buf exhausted{};

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::uint64_t bytes_left_;
  std::chrono::nanoseconds end_;
  std::uint32_t calls_ = 0;
};

}  // namespace plimsoll::ingest
