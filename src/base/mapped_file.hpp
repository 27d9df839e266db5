// A whole file as read-only memory, for as long as the object lives.
//
// Only regular files can be mapped; for pipes and devices there is read_file() in base/files.hpp.
// A file that another process shortens while it is mapped raises SIGBUS on access: map what is
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
  // not_found if there is no such file, io_failed if the system refuses it, bad_input if it is not a
  // regular file.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // For a file that is looked into here and there: its pages come one by one, where the system would map two
  // megabytes at a touch and keep all of them in memory.
  void expect_few_pages();

  // Pages that were looked at leave this process's memory; those looked at again come back.
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
