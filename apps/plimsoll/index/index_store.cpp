#include "index/index_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

// A locked file; the lock ends with the process, however that ends.
class FileTurn {
 public:
  static Result<std::shared_ptr<const void>> take(const fs::path& file) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
      return fail(Errc::io_failed, "{}: {}", file.string(), std::generic_category().message(errno));
    auto turn = std::shared_ptr<const void>(
        new FileTurn(descriptor), [](const void* made) { delete static_cast<const FileTurn*>(made); });
    while (::flock(descriptor, LOCK_EX) != 0)
      if (errno != EINTR)
        return fail(Errc::io_failed, "{}: {}", file.string(), std::generic_category().message(errno));
    return turn;
  }
  FileTurn(const FileTurn&) = delete;
  FileTurn& operator=(const FileTurn&) = delete;

 private:
  explicit FileTurn(int descriptor) : descriptor_(descriptor) {}
  ~FileTurn() { ::close(descriptor_); }

  int descriptor_;
};

// The identity of a store in a file: made once, and kept beside its search data.
Result<std::string> identity_in(const fs::path& index_folder) {
  constexpr std::size_t bytes = 24, longest = 200;
  const fs::path file = index_folder / "identity";
  TRY(const auto turn, FileTurn::take(index_folder / "identity.lock"));
  std::error_code error;
  if (fs::exists(file, error)) {
    TRY(std::string known, base::read_file(file, longest));
    if (!known.empty()) return known;
  }
  std::string made = base::random_text(bytes);
  TRY_VOID(base::write_atomically(file, made));
  return made;
}

}  // namespace

Result<weaviate::Options> index_store_for(const config::Settings& settings, const fs::path& index_folder,
                                          const IndexInfo& info, const TakeTurn& turns) {
  weaviate::Options options;
  TRY(options.address, weaviate::read_address(settings.index_store));
  if (is_shared(settings)) {
    options.store = index_folder.filename().string();
    // Not that of the index itself, which a request may hold that needs this one.
    options.turn = [turns, name = fmt::format("{}", info.id)] { return turns("#index-store", name); };
    return options;
  }
  TRY(options.store, identity_in(index_folder));
  options.turn = [file = index_folder / fmt::format("{}.lock", info.id)] { return FileTurn::take(file); };
  return options;
}

}  // namespace plimsoll
