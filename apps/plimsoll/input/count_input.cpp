#include "input/count_input.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/read/media_type.hpp"
#include "ingest/read/read.hpp"

namespace plimsoll {
namespace {

constexpr std::size_t stretch_bytes = std::size_t{1} << 20;

class Descriptor {
 public:
  static Result<Descriptor> open(const std::string& path) {
    if (path == "-") return Descriptor(STDIN_FILENO, false);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return fail(errno == ENOENT ? Errc::not_found : Errc::io_failed, "cannot read {}: {}", path,
                  std::strerror(errno));
    struct stat status {};
    if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(fd);
      return fail(Errc::bad_input, "{} is a folder; give the files in it", path);
    }
    return Descriptor(fd, true);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_), ours_(other.ours_) { other.ours_ = false; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (ours_) ::close(fd_);
  }

  // Reads up to the buffer's size; empty at the end.
  Result<std::string_view> read(std::vector<char>& buffer, const std::string& path) const {
    for (;;) {
      const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
      if (got >= 0) return std::string_view(buffer.data(), static_cast<std::size_t>(got));
      if (errno != EINTR)
        return fail(Errc::io_failed, "cannot read {}: {}", path == "-" ? "standard input" : path,
                    std::strerror(errno));
    }
  }

 private:
  Descriptor(int fd, bool ours) : fd_(fd), ours_(ours) {}
  int fd_;
  bool ours_;
};

// Counts characters and invalid bytes; characters may be split between two blocks.
class Utf8Survey {
 public:
  void add(std::string_view stretch, CountedInput& into) {
    std::string joined;
    if (!held_.empty()) {
      joined = held_ + std::string(stretch);
      stretch = joined;
      held_.clear();
    }
    while (!stretch.empty()) {
      const std::size_t bad = base::find_invalid_utf8(stretch);
      for (const char c : stretch.substr(0, bad))
        into.characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
      if (bad == std::string_view::npos) return;
      stretch.remove_prefix(bad);
      if (stretch.size() < 4 && could_go_on(stretch)) {
        held_ = stretch;
        return;
      }
      ++into.characters;
      ++into.invalid_bytes;
      stretch.remove_prefix(1);
    }
  }
  void finish(CountedInput& into) {
    into.characters += held_.size();
    into.invalid_bytes += held_.size();
    held_.clear();
  }

 private:
  static bool could_go_on(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t wanted = lead >= 0xF0 && lead <= 0xF4  ? 4
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                                                             : 0;
    for (const char c : text.substr(1)) {
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) return false;
    }
    return text.size() < wanted;
  }
  std::string held_;
};

// As ingest::packed_kind, of a file.
std::string document_kind(const std::string& path) {
  // A pipe can be read only once.
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string front(1024, '\0');
  file.read(front.data(), static_cast<std::streamsize>(front.size()));
  front.resize(static_cast<std::size_t>(file.gcount()));
  return std::string(ingest::packed_kind(front));
}

// None: a zip archive that is not a document.
Result<std::optional<CountedInput>> count_document(std::string_view bytes, const std::string& path,
                                                   const std::string& kind, const Tokenizer& tokenizer,
                                                   Specials specials) {
  const ingest::ReadOptions options;
  const auto read = ingest::read_document(bytes, path, options);
  if (!read && read.error().code == Errc::unsupported && kind != "PDF") return std::nullopt;
  if (!read) return fail(read.error().code, "{}: {}", path, read.error().what);
  CountedInput counted;
  counted.document = kind;
  counted.bytes = read->text.size();
  Utf8Survey survey;
  survey.add(read->text, counted);
  survey.finish(counted);
  counted.tokens = tokenizer.count(read->text, specials);
  return counted;
}

// Reads the rest of a document on standard input, and counts its text.
Result<CountedInput> count_piped_document(const Descriptor& input, std::string bytes, const std::string& kind,
                                          const Tokenizer& tokenizer, Specials specials) {
  const std::uint64_t most = ingest::ReadOptions{}.max_document_bytes;
  std::vector<char> buffer(stretch_bytes);
  while (bytes.size() <= most) {
    TRY(const std::string_view stretch, input.read(buffer, "-"));
    if (stretch.empty()) break;
    bytes += stretch;
  }
  if (bytes.size() > most)
    return fail(Errc::bad_input, "the {} document on standard input is longer than {}", kind,
                base::human_bytes(most));
  TRY(auto counted, count_document(bytes, "standard input", kind, tokenizer, specials));
  if (counted) return *std::move(counted);
  return fail(Errc::unsupported, "standard input is a zip archive, not a document");
}

}  // namespace

Result<CountedInput> count_input(const std::string& path, const Tokenizer& tokenizer, Specials specials,
                                 const std::function<void(std::uint64_t)>& progress) {
  if (const std::string kind = document_kind(path); !kind.empty()) {
    TRY(const std::string bytes, base::read_file(path, ingest::ReadOptions{}.max_document_bytes));
    TRY(auto document, count_document(bytes, path, kind, tokenizer, specials));
    if (document) return *std::move(document);
  }
  TRY(const Descriptor input, Descriptor::open(path));
  std::vector<char> buffer(stretch_bytes);
  Counter counter(tokenizer, specials);
  Utf8Survey survey;
  CountedInput counted;
  for (;;) {
    TRY(const std::string_view stretch, input.read(buffer, path));
    if (stretch.empty()) break;
    if (const std::string kind(counted.bytes == 0 ? ingest::packed_kind(stretch) : "");
        path == "-" && !kind.empty())
      return count_piped_document(input, std::string(stretch), kind, tokenizer, specials);
    counted.bytes += stretch.size();
    counted.binary = counted.binary || stretch.find('\0') != std::string_view::npos;
    survey.add(stretch, counted);
    counter.append(stretch);
    progress(counted.bytes);
  }
  survey.finish(counted);
  counted.tokens = counter.total();
  return counted;
}

Result<void> each_line(std::size_t limit,
                       const std::function<Result<void>(std::string_view, std::uint64_t)>& line) {
  TRY(const Descriptor input, Descriptor::open("-"));
  std::vector<char> buffer(stretch_bytes);
  std::string held;
  std::uint64_t number = 0;
  for (;;) {
    TRY(std::string_view stretch, input.read(buffer, "-"));
    if (stretch.empty()) break;
    for (std::size_t end = stretch.find('\n'); end != std::string_view::npos; end = stretch.find('\n')) {
      held += stretch.substr(0, end);
      stretch.remove_prefix(end + 1);
      TRY_VOID(line(held, ++number));
      held.clear();
    }
    held += stretch;
    if (held.size() > limit)
      return fail(Errc::bad_input, "line {} is longer than {}", number + 1, base::human_bytes(limit));
  }
  if (!held.empty()) TRY_VOID(line(held, ++number));
  return {};
}

}  // namespace plimsoll
