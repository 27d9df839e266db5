#include "failing_disk.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <sqlite3.h>

namespace plimsoll {
namespace {

constexpr std::size_t sector = 512;  // a disk writes one whole or not at all

FailingDisk* disk = nullptr;
sqlite3_vfs* real_vfs = nullptr;

// Followed by the real file, in the memory that SQLite gives.
struct Watched {
  sqlite3_file base;
  const std::string* path;  // null: it is not watched
};

sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(Watched));
}
const std::string* path_of(sqlite3_file* file) {
  return reinterpret_cast<Watched*>(file)->path;
}

int close(sqlite3_file* file) {
  const int done = real(file)->pMethods->xClose(real(file));
  delete path_of(file);
  return done;
}
int read(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  return real(file)->pMethods->xRead(real(file), to, size, at);
}
int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  if (const std::string* path = path_of(file))
    disk->written(*path, at, {static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
  return real(file)->pMethods->xWrite(real(file), bytes, size, at);
}
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const std::string* path = path_of(file)) disk->truncated(*path, size);
  return real(file)->pMethods->xTruncate(real(file), size);
}
int sync(sqlite3_file* file, int flags) {
  const int done = real(file)->pMethods->xSync(real(file), flags);
  if (const std::string* path = path_of(file); path != nullptr && done == SQLITE_OK) disk->synced(*path);
  return done;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int lock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
int unlock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int check_lock(sqlite3_file* file, int* reserved) {
  return real(file)->pMethods->xCheckReservedLock(real(file), reserved);
}
int control(sqlite3_file* file, int what, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), what, argument);
}
int sector_size(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
// Nothing is promised that a disk may not do.
int traits(sqlite3_file*) {
  return 0;
}
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** to) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, to);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}
int shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}
int fetch(sqlite3_file* file, sqlite3_int64 at, int size, void** to) {
  return real(file)->pMethods->xFetch(real(file), at, size, to);
}
int unfetch(sqlite3_file* file, sqlite3_int64 at, void* from) {
  return real(file)->pMethods->xUnfetch(real(file), at, from);
}

const sqlite3_io_methods methods{3,        close,       read,       write,   truncate,    sync,   file_size,
                                 lock,     unlock,      check_lock, control, sector_size, traits, shm_map,
                                 shm_lock, shm_barrier, shm_unmap,  fetch,   unfetch};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  auto* watched = reinterpret_cast<Watched*>(file);
  watched->base.pMethods = nullptr;
  watched->path = nullptr;
  const bool is_new = name != nullptr && !std::filesystem::exists(name);
  const int done = real_vfs->xOpen(real_vfs, name, real(file), flags, out);
  if (done != SQLITE_OK) return done;
  watched->base.pMethods = &methods;
  if (name != nullptr && disk != nullptr && disk->tracks(name)) {
    watched->path = new std::string(name);
    disk->opened(name, is_new);
  }
  return done;
}

int remove(sqlite3_vfs*, const char* name, int sync_folder) {
  const int done = real_vfs->xDelete(real_vfs, name, sync_folder);
  if (done == SQLITE_OK && disk != nullptr && disk->tracks(name)) disk->deleted(name, sync_folder != 0);
  return done;
}

sqlite3_vfs& watching_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs made = *real_vfs;
    made.zName = "failing-disk";
    made.szOsFile = static_cast<int>(sizeof(Watched)) + real_vfs->szOsFile;
    made.pNext = nullptr;
    made.xOpen = open;
    made.xDelete = remove;
    return made;
  }();
  return vfs;
}

}  // namespace

FailingDisk::FailingDisk(const std::filesystem::path& folder) : prefix_(folder.string() + "/") {
  if (real_vfs == nullptr) real_vfs = sqlite3_vfs_find(nullptr);
  disk = this;
  sqlite3_vfs_register(&watching_vfs(), /*makeDflt=*/1);
}

FailingDisk::~FailingDisk() {
  sqlite3_vfs_register(real_vfs, 1);
  disk = nullptr;
}

void FailingDisk::opened(const std::string& path, bool is_new) {
  const std::lock_guard lock(mutex_);
  if (is_new) files_[path] = {};
  files_.try_emplace(path);
}

void FailingDisk::written(const std::string& path, std::int64_t at, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  count_call();
  files_[path].since.push_back({at, std::string(bytes), false});
}

void FailingDisk::truncated(const std::string& path, std::int64_t size) {
  const std::lock_guard lock(mutex_);
  count_call();
  files_[path].since.push_back({size, {}, true});
}

void FailingDisk::synced(const std::string& path) {
  const std::lock_guard lock(mutex_);
  count_call();
  File& file = files_[path];
  for (const Change& change : file.since) apply(change, file.durable);
  file.since.clear();
  file.exists = true;
  ++syncs_;
}

void FailingDisk::deleted(const std::string& path, bool at_once) {
  const std::lock_guard lock(mutex_);
  count_call();
  if (at_once)
    files_.erase(path);
  else
    files_[path].may_be_gone = true;
}

void FailingDisk::apply(const Change& change, std::string& content) {
  const auto at = static_cast<std::size_t>(change.at);
  if (change.is_truncation) {
    content.resize(at);
    return;
  }
  if (content.size() < at + change.bytes.size()) content.resize(at + change.bytes.size());
  content.replace(at, change.bytes.size(), change.bytes);
}

void FailingDisk::lose_power(const std::filesystem::path& to, std::mt19937& random) const {
  const std::lock_guard lock(mutex_);
  write_what_is_left(to, random);
}

void FailingDisk::lose_power_in(int calls, std::filesystem::path to, std::mt19937& random) {
  const std::lock_guard lock(mutex_);
  calls_left_ = calls;
  to_ = std::move(to);
  random_ = &random;
}

// Before what the call does.
void FailingDisk::count_call() {
  if (calls_left_ <= 0) return;
  --calls_left_;
  if (calls_left_ == 0) write_what_is_left(to_, *random_);
}

void FailingDisk::write_what_is_left(const std::filesystem::path& to, std::mt19937& random) const {
  std::filesystem::create_directories(to);
  for (const auto& [path, file] : files_) {
    if (path.ends_with("-shm")) continue;  // memory, not a file
    if (file.may_be_gone && random() % 2 == 0) continue;
    if (!file.exists && random() % 2 == 0) continue;
    std::string content = file.durable;
    const auto share = random() % 5;  // from nothing of it to all of it
    for (const Change& change : file.since) {
      if (change.is_truncation) {
        if (random() % 4 < share) apply(change, content);
        continue;
      }
      for (std::size_t part = 0; part < change.bytes.size();) {
        const std::size_t size = std::min(change.bytes.size() - part,
                                          sector - (static_cast<std::size_t>(change.at) + part) % sector);
        if (random() % 4 < share)
          apply({change.at + static_cast<std::int64_t>(part), change.bytes.substr(part, size), false},
                content);
        part += size;
      }
    }
    std::ofstream(to / std::filesystem::path(path).filename(), std::ios::binary) << content;
  }
}

}  // namespace plimsoll
