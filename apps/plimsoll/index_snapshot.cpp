#include "index_snapshot.hpp"

#include <unistd.h>

#include <mutex>

#include "adapters/sqlite/store.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "documents.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "plimsoll-index.db";
constexpr std::string_view loading_owner = "#loading";  // nobody's: such an index is never listed

// One at a time: two of them may mean the same folder.
std::mutex& turn() {
  static std::mutex mutex;
  return mutex;
}

// In steps that hold some megabytes at most, but for one large document.
Result<void> copy_documents(Store& from, IndexId source, Store& to, IndexId target) {
  constexpr std::size_t most_heads = 256, most_bytes = 4'000'000;
  std::vector<DocumentWithVectors> batch;
  std::size_t bytes = 0;
  const auto flush = [&]() -> Result<void> {
    if (!batch.empty()) TRY_VOID(to.put(target, batch));
    batch.clear();
    bytes = 0;
    return {};
  };
  for (DocumentId after = 0;;) {
    TRY(const auto heads, from.documents(source, {}, after, most_heads));
    if (heads.empty()) return flush();
    for (const DocumentHead& head : heads) {
      auto document = from.document(head.id);
      if (!document && document.error().code == Errc::not_found) continue;  // by another process, meanwhile
      if (!document) return tl::unexpected<Error>(document.error());
      bytes += document->document.text.size();
      batch.push_back(*std::move(document));
      if (bytes >= most_bytes || batch.size() >= most_heads) TRY_VOID(flush());
    }
    after = heads.back().id;
  }
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
  return copy_documents(store, info.id, *alone, made.id);
}

Result<IndexInfo> only_index(Store& store, const fs::path& file) {
  TRY(auto all, store.indexes(local_owner));
  if (all.size() == 1) return std::move(all.front());
  return fail(Errc::damaged, "{} holds {} indexes and not one", file.string(), all.size());
}

}  // namespace

Result<void> save_index(Store& store, const IndexInfo& info, const fs::path& folder) {
  const std::lock_guard lock(turn());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(Errc::io_failed, "{}: the folder cannot be made ({})", folder.string(), error.message());
  const fs::path file = folder / file_name;
  const fs::path growing = folder / fmt::format(".{}.{}", file_name, ::getpid());
  remove_store(growing);
  auto written = write_store(store, info, growing);
  if (written) {
    for (const char* ending : {"-wal", "-shm"}) {  // of who read the old one: they do not go with the new
      fs::path old = file;
      old += ending;
      fs::remove(old, error);
    }
    fs::rename(growing, file, error);
    if (error) written = fail(Errc::io_failed, "{}: {}", file.string(), error.message());
  }
  if (!written) remove_store(growing);
  return written;
}

Result<void> load_index(Store& store, const fs::path& folder, std::string_view owner, std::string_view name) {
  const std::lock_guard lock(turn());
  const fs::path file = folder / file_name;
  auto opened = sqlite::open_store(file, {.create = false});
  if (!opened && opened.error().code == Errc::not_found)
    return fail(Errc::bad_input, "{} holds no snapshot of an index ({} is not there)", folder.string(),
                file_name);
  if (!opened) return tl::unexpected<Error>(opened.error());
  TRY(const IndexInfo saved, only_index(**opened, file));
  for (const IndexInfo& half : store.indexes(loading_owner).value_or(std::vector<IndexInfo>()))
    if (half.name == name) TRY_VOID(store.remove_index(half.id));
  TRY(const IndexInfo made, store.create_index(loading_owner, name, saved.settings));
  auto loaded = copy_documents(**opened, saved.id, store, made.id);
  if (loaded) loaded = store.rename_index(made.id, owner, name);
  if (!loaded) (void)store.remove_index(made.id);
  return loaded;
}

void remove_half_loaded(Store& store) {
  constexpr std::int64_t hour_ms = 3'600'000;  // another process may be at it
  const std::int64_t now = base::utc_ms();
  for (const IndexInfo& half : store.indexes(loading_owner).value_or(std::vector<IndexInfo>()))
    if (half.updated_ms < now - hour_ms) (void)store.remove_index(half.id);
}

}  // namespace plimsoll
