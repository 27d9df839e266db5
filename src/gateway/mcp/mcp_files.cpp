#include "gateway/mcp/mcp_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.hpp"
#include "ingest/read/media_type.hpp"
#include "ingest/read/read.hpp"

namespace plimsoll::gateway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_counted_bytes = std::int64_t{256} << 20;  // about a second
constexpr std::size_t stretch_bytes = std::size_t{1} << 20;

tl::unexpected<Error> outside(std::string_view path) {
  return fail(Errc::bad_input, "refused: '{}' is outside the folder that this server may read (--root)",
              path);
}

}  // namespace

class RootedFiles::Opened {
 public:
  explicit Opened(int descriptor) : descriptor_(descriptor) {}
  Opened(Opened&& other) noexcept : descriptor_(other.descriptor_), size(other.size) {
    other.descriptor_ = -1;
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  Opened& operator=(Opened&&) = delete;
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  // Returns the real path of the open file.
  Result<fs::path> place() const {
    std::error_code error;
    fs::path real = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor_), error);
    if (error) return fail(Errc::io_failed, "cannot find the path of the file: {}", error.message());
    return real;
  }
  // Empty at the end.
  Result<std::string_view> read_at(std::uint64_t place, std::vector<char>& buffer) const {
    for (;;) {
      const ssize_t got = ::pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(place));
      if (got >= 0) return std::string_view(buffer.data(), static_cast<std::size_t>(got));
      if (errno != EINTR) return fail(Errc::io_failed, "cannot read: {}", std::strerror(errno));
    }
  }

 private:
  int descriptor_;

 public:
  std::int64_t size = 0;
};

Result<RootedFiles> RootedFiles::below(const fs::path& root) {
  std::error_code error;
  fs::path real = fs::canonical(root, error);
  if (error) return fail(Errc::not_found, "cannot use {} as the root: {}", root.string(), error.message());
  if (!fs::is_directory(real, error)) return fail(Errc::bad_input, "{} is not a folder", root.string());
  return RootedFiles(std::move(real));
}

bool RootedFiles::holds(const fs::path& real) const {
  return std::ranges::mismatch(root_, real).in1 == root_.end() && real != root_;
}

Result<RootedFiles::Opened> RootedFiles::open(std::string_view path) const {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return fail(Errc::bad_input, "a path is empty or has a NUL byte");
  std::error_code error;
  // Resolves links as far as the path exists, so that missing files outside cannot be probed.
  const fs::path real = fs::weakly_canonical(root_ / fs::path(path), error);
  if (error) return fail(Errc::bad_input, "cannot read '{}': {}", path, error.message());
  if (!holds(real)) return outside(path);
  const int descriptor = ::open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0)
    return fail(errno == ENOENT ? Errc::not_found : Errc::io_failed, "cannot read '{}': {}", path,
                std::strerror(errno));
  Opened opened(descriptor);
  TRY(const fs::path place, opened.place());
  if (!holds(place)) return outside(path);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    return fail(Errc::io_failed, "cannot read '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail(Errc::bad_input, "'{}' is not a regular file", path);
  opened.size = status.st_size;
  return opened;
}

Result<WeighedFile> RootedFiles::measure(std::string_view path) const {
  TRY(const Opened file, open(path));
  return WeighedFile{file.size};
}

// None: a zip archive that is not a document.
Result<std::optional<WeighedFile>> RootedFiles::weigh_document(const Opened& file, std::string_view path,
                                                               const Tokenizer& tokenizer,
                                                               Specials specials) {
  std::vector<char> buffer(stretch_bytes);
  std::string bytes;
  std::string_view kind;
  const ingest::ReadOptions options;
  for (;;) {
    TRY(const std::string_view stretch, file.read_at(bytes.size(), buffer));
    if (stretch.empty()) break;
    if (bytes.empty()) kind = ingest::packed_kind(stretch);
    if (kind.empty()) return std::nullopt;
    if (static_cast<std::uint64_t>(file.size) > options.max_document_bytes) return WeighedFile{file.size};
    bytes += stretch;
    TRY_VOID(ingest::check_size(bytes.size(), options));  // it may have grown
  }
  if (kind.empty()) return std::nullopt;
  const auto read = ingest::read_document(bytes, path, options);
  if (!read && read.error().code == Errc::unsupported && kind != "PDF") return std::nullopt;
  if (!read) return fail(read.error().code, "{}: {}", path, read.error().what);
  return WeighedFile{std::ssize(read->text), tokenizer.count(read->text, specials), kind};
}

Result<WeighedFile> RootedFiles::weigh(std::string_view path, const Tokenizer& tokenizer,
                                       Specials specials) const {
  TRY(const Opened file, open(path));
  if (file.size > most_counted_bytes) return WeighedFile{file.size};
  TRY(const auto document, weigh_document(file, path, tokenizer, specials));
  if (document) return *document;
  std::vector<char> buffer(stretch_bytes);
  Counter counter(tokenizer, specials);
  WeighedFile weighed;
  for (;;) {
    TRY(const std::string_view stretch, file.read_at(static_cast<std::uint64_t>(weighed.bytes), buffer));
    if (stretch.empty()) break;
    weighed.bytes += std::ssize(stretch);
    if (weighed.bytes > most_counted_bytes) return WeighedFile{weighed.bytes};  // it grew while we read it
    counter.append(stretch);
  }
  weighed.tokens = counter.total();
  return weighed;
}

}  // namespace plimsoll::gateway
