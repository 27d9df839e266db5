// Memory for a C library that knows no bounds of its own. All of it is let go at once, so that no tree is
// taken down node by node; and a library that wants too much, or that has been at it for too long, is left in
// the middle of its work:
//
//   BoundedArena arena(most_bytes, most_time);
//   if (setjmp(arena.exhausted) != 0) return too_much;
//   tree = parse(..., [](void* arena, size_t n) { return static_cast<BoundedArena*>(arena)->allocate(n); });
//
// Between the two no C++ object with a destructor may be made on the stack.
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
  // The time is that of this thread's processor.
  BoundedArena(std::uint64_t most_bytes, std::chrono::milliseconds most_time);

  // Sixteen bytes aligned; jumps to `exhausted` rather than fail.
  void* allocate(std::size_t bytes);
  void* allocate_zeroed(std::size_t bytes);
  // Moves what realloc would; null is an empty piece.
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
