#include "index/index_snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include <fmt/ranges.h>

#include "adapters/sqlite/store.hpp"
#include "base/checksum.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/mapped_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "library/copy_index.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "plimsoll-index.db";
// Checksums of that file, one per line. There are two while it is replaced: of the new and the old file.
constexpr const char* sums_name = "plimsoll-index.sums";
constexpr std::string_view loading_owner = "#loading";  // no real owner: such an index is never listed

// Serialises snapshots: two of them may use the same folder.
std::mutex& turn() {
  static std::mutex mutex;
  return mutex;
}

void remove_store(const fs::path& file) {
  std::error_code ignored;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    fs::path one = file;
    one += ending;
    fs::remove(one, ignored);
  }
}

Result<void> write_store(Store& store, const IndexInfo& info, const fs::path& file) {
  TRY(const auto alone, sqlite::open_store(file));
  TRY(const IndexInfo made, alone->create_index(local_owner, info.name, info.settings));
  return library::copy_documents(store, info.id, *alone, made.id);
}

Result<std::string> sum_of(const fs::path& file) {
  TRY(const auto mapped, base::MappedFile::open(file));
  base::Checksum sum;
  sum.update(mapped.bytes());
  return fmt::format("{:016x}", sum.value());
}

Result<void> write_sums(const fs::path& folder, const std::vector<std::string>& sums) {
  return base::write_atomically(folder / sums_name, fmt::format("{}\n", fmt::join(sums, "\n")));
}

// Reads the checksums; empty for a snapshot from a version without them.
std::vector<std::string> sums_in(const fs::path& folder) {
  constexpr std::size_t longest = 1'000;
  const auto text = base::read_file(folder / sums_name, longest);
  std::vector<std::string> sums;
  for (std::string_view rest = text ? std::string_view(*text) : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) sums.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sums;
}

// Replaces the old snapshot. At every moment the checksums match the existing file.
Result<void> put_in_place(const fs::path& growing, const fs::path& folder) {
  const fs::path file = folder / file_name;
  std::error_code error;
  TRY(const std::string sum, sum_of(growing));
  std::vector<std::string> both{sum};
  if (const auto old = fs::exists(file, error) ? sum_of(file) : Result<std::string>(sum); old)
    both.push_back(*old);
  TRY_VOID(write_sums(folder, both));
  for (const char* ending : {"-wal", "-shm"}) {  // left by readers of the old file; not valid for the new one
    fs::path old = file;
    old += ending;
    fs::remove(old, error);
  }
  fs::rename(growing, file, error);
  if (error) return fail(Errc::io_failed, "{}: {}", file.string(), error.message());
  return write_sums(folder, {sum});
}

// Checks a snapshot before it replaces anything.
Result<void> check_snapshot(Store& snapshot, const IndexInfo& saved) {
  TRY(const auto faults, snapshot.verify(saved.id));
  if (faults.empty()) return {};
  return fail(Errc::damaged, "the snapshot is damaged and was not loaded ({}); save it again or restore it",
              faults.front());
}

Result<IndexInfo> only_index(Store& store, const fs::path& file) {
  TRY(auto all, store.indexes(local_owner));
  if (all.size() == 1) return std::move(all.front());
  return fail(Errc::damaged, "{} has {} indexes instead of one", file.string(), all.size());
}

}  // namespace

Result<void> save_index(Store& store, const IndexInfo& info, const fs::path& folder) {
  const std::lock_guard lock(turn());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(Errc::io_failed, "{}: cannot create the folder ({})", folder.string(), error.message());
  const fs::path growing = folder / fmt::format(".{}.{}", file_name, ::getpid());
  remove_store(growing);
  auto written = write_store(store, info, growing);
  if (written) written = put_in_place(growing, folder);
  if (!written) remove_store(growing);
  return written;
}

Result<void> load_index(Store& store, const fs::path& folder, std::string_view owner, std::string_view name) {
  const std::lock_guard lock(turn());
  const fs::path file = folder / file_name;
  const std::vector<std::string> sums = sums_in(folder);
  if (const auto sum = sum_of(file); sum && !sums.empty() && std::ranges::find(sums, *sum) == sums.end())
    return fail(
        Errc::damaged,
        "the snapshot is damaged and was not loaded ({} fails its checksum); save it again or restore it",
        file_name);
  auto opened = sqlite::open_store(file, {.create = false});
  if (!opened && opened.error().code == Errc::not_found)
    return fail(Errc::bad_input, "{} has no snapshot of an index ({} does not exist)", folder.string(),
                file_name);
  if (!opened) return tl::unexpected<Error>(opened.error());
  TRY(const IndexInfo saved, only_index(**opened, file));
  TRY_VOID(check_snapshot(**opened, saved));
  // Another gateway may be loading an index of the same name for another owner.
  const std::string loading = fmt::format("{} {}", owner, name);
  for (const IndexInfo& half : store.indexes(loading_owner).value_or(std::vector<IndexInfo>()))
    if (half.name == loading) TRY_VOID(store.remove_index(half.id));
  TRY(const IndexInfo made, store.create_index(loading_owner, loading, saved.settings));
  auto loaded = library::copy_documents(**opened, saved.id, store, made.id);
  if (loaded) loaded = store.rename_index(made.id, owner, name);
  if (!loaded) (void)store.remove_index(made.id);
  opened->reset();
  // Opening a snapshot of an older version has upgraded it.
  if (const auto sum = sum_of(file); sum && !sums.empty() && std::ranges::find(sums, *sum) == sums.end())
    TRY_VOID(write_sums(folder, {*sum}));
  return loaded;
}

void remove_half_loaded(Store& store) {
  constexpr std::int64_t hour_ms = 3'600'000;  // another process may still be loading
  const std::int64_t now = base::utc_ms();
  for (const IndexInfo& half : store.indexes(loading_owner).value_or(std::vector<IndexInfo>()))
    if (half.updated_ms < now - hour_ms) (void)store.remove_index(half.id);
}

}  // namespace plimsoll
