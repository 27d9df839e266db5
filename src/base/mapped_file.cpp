#include "base/mapped_file.hpp"

#include <utility>

#include <sys/mman.h>

#include "base/open_file.hpp"
#include "base/try.hpp"

namespace plimsoll::base {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  TRY(const OpenFile file, OpenFile::for_reading(path));
  TRY(const std::size_t size, file.regular_size());
  if (size == 0) return MappedFile(nullptr, 0);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) return system_failure("map", path);
  return MappedFile(static_cast<const std::byte*>(address), size);
}

void MappedFile::expect_few_pages() {
  if (data_ != nullptr) (void)::madvise(const_cast<std::byte*>(data_), size_, MADV_NOHUGEPAGE);
}

void MappedFile::give_pages_back() {
  if (data_ != nullptr) (void)::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace plimsoll::base
