#include "base/weights/checked_file.hpp"

#include <sys/stat.h>

#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/mapped_file.hpp"
#include "base/sha256.hpp"
#include "base/try.hpp"

namespace plimsoll::base {
namespace {

namespace fs = std::filesystem;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// What changes with every write to the file. None: it cannot be looked at.
std::optional<std::string> state_of(const fs::path& file, std::string_view sha256) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return std::nullopt;
  return fmt::format("{} {} {} {}\n", found.st_size, nanoseconds(found.st_mtim), nanoseconds(found.st_ctim),
                     sha256);
}

}  // namespace

Result<void> check_file(const fs::path& file, std::string_view sha256, const fs::path& notes,
                        Checking checking) {
  constexpr std::uint64_t largest_note = 4096;
  std::error_code none;
  const fs::path note = notes / sha256_hex(fs::absolute(file, none).string()).substr(0, 32);
  const auto state = state_of(file, sha256);
  if (checking == Checking::if_changed && state &&
      read_file(note, largest_note).value_or(std::string()) == *state)
    return {};
  TRY(const auto mapped, MappedFile::open(file));
  if (const std::string found = sha256_hex(mapped.text()); found != sha256) {
    fs::remove(note, none);
    return fail(Errc::damaged, "{} is damaged: its sha256 is {}, expected {}", file.string(), found, sha256);
  }
  // Without the note the file is read again next time.
  if (state) (void)write_atomically(note, *state);
  return {};
}

}  // namespace plimsoll::base
