// A zeroed array of fixed size on huge pages, if available: otherwise each random lookup costs a
// TLB miss.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include <sys/mman.h>

namespace plimsoll::base {

template <typename T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static constexpr std::size_t page = std::size_t{2} << 20;

 public:
  explicit HugeArray(std::size_t size) : size_(size) {
    const std::size_t bytes = (size * sizeof(T) + page - 1) / page * page;
    void* memory = std::aligned_alloc(page, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // optional; small pages work as well
    std::memset(memory, 0, size * sizeof(T));
    data_.reset(static_cast<T*>(memory));
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_;
};

}  // namespace plimsoll::base
