// Rows of numbers that are only added and never move: threads may read known rows while another
// adds more.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plimsoll::search {

template <typename T>
class StableRows {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit StableRows(std::size_t width) : width_(width) {}

  // The first rows are in external, read-only memory that must outlive this.
  void begin_with(std::span<const T> rows) {
    outside_ = rows.data();
    outside_rows_ = size_ = rows.size() / width_;
  }

  std::size_t size() const { return size_; }
  std::size_t width() const { return width_; }

  // One thread at a time. New rows are zero.
  void grow_to(std::size_t size) {
    while (size > outside_rows_ + capacity_) {
      const std::size_t rows = first_block << blocks_used_;
      // Unwritten pages take no physical memory.
      T* memory = static_cast<T*>(std::calloc(rows * width_, sizeof(T)));
      if (memory == nullptr) throw std::bad_alloc();
      blocks_[blocks_used_++].reset(memory);
      capacity_ += rows;
    }
    size_ = size;
  }

  const T* row(std::size_t i) const {
    if (i < outside_rows_) return outside_ + i * width_;
    return inside(i);
  }
  T* writable(std::size_t i) { return inside(i); }

  // Appends all rows as runs of bytes.
  void append_bytes(std::vector<std::string_view>& parts) const {
    const auto add = [&](const T* from, std::size_t rows) {
      if (rows > 0) parts.emplace_back(reinterpret_cast<const char*>(from), rows * width_ * sizeof(T));
    };
    add(outside_, outside_rows_);
    std::size_t left = size_ - outside_rows_;
    for (std::size_t i = 0; i < blocks_used_ && left > 0; ++i) {
      const std::size_t rows = std::min(left, first_block << i);
      add(blocks_[i].get(), rows);
      left -= rows;
    }
  }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  static constexpr std::size_t first_block = 1024;  // each block is twice the one before

  T* inside(std::size_t i) const {
    const std::size_t at = i - outside_rows_;
    const auto block = static_cast<std::size_t>(std::bit_width(at / first_block + 1) - 1);
    return blocks_[block].get() + (at - first_block * ((std::size_t{1} << block) - 1)) * width_;
  }

  std::size_t width_;
  const T* outside_ = nullptr;
  std::size_t outside_rows_ = 0;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // of the blocks
  std::size_t blocks_used_ = 0;
  std::array<std::unique_ptr<T, Free>, 32> blocks_;
};

}  // namespace plimsoll::search
