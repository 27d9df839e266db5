// Maps a whole file into read-only memory while the object lives.
//
// Only regular files can be mapped; use read_file() in base/files.hpp for pipes and devices.
// If another process truncates a mapped file, access raises SIGBUS: map only files that are
// written atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

class MappedFile {
 public:
  // not_found: no such file; io_failed: the system refuses it; bad_input: not a
  // regular file.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // For random access to few places: loads single pages, where the system would otherwise map two
  // megabytes at each access and keep them in memory.
  void expect_few_pages();

  // Releases the pages used so far; they are loaded again on access.
  void give_pages_back();

  // At least page-aligned; the address does not change when the object is moved.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_ = nullptr;  // null for an empty file, which cannot be mapped
  std::size_t size_ = 0;
};

}  // namespace plimsoll::base
