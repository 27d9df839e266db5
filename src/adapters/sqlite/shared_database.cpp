#include "adapters/sqlite/shared_database.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include <sys/stat.h>
#include <unistd.h>

#include "adapters/sqlite/schema.hpp"

namespace plimsoll::sqlite {
namespace {

constexpr std::chrono::milliseconds longest_turn{30'000};  // as Connection waits for another process

// A file of this process: connections do not survive a fork.
using FileId = std::tuple<pid_t, dev_t, ino_t>;

std::optional<FileId> id_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return std::nullopt;
  return FileId{::getpid(), found.st_dev, found.st_ino};
}

// The databases that are open for writing.
struct OpenFiles {
  std::mutex mutex;
  std::map<FileId, std::weak_ptr<Database>> databases;
};
OpenFiles& open_files() {
  static OpenFiles files;
  return files;
}

}  // namespace

Result<std::shared_ptr<Database>> Database::open(const std::filesystem::path& file) {
  OpenFiles& files = open_files();
  const std::lock_guard lock(files.mutex);
  std::erase_if(files.databases, [](const auto& one) { return one.second.expired(); });
  if (const auto id = id_of(file))
    if (const auto found = files.databases.find(*id); found != files.databases.end())
      if (auto database = found->second.lock()) return database;
  std::shared_ptr<Database> database(new Database(file, Connection::Mode::write));
  {
    TRY(auto connection, database->lease());
    TRY_VOID(make_ready(*connection));
  }
  if (const auto id = id_of(file)) files.databases[*id] = database;
  return database;
}

std::shared_ptr<Database> Database::open_to_read(const std::filesystem::path& file, Connection::Mode mode) {
  return std::shared_ptr<Database>(new Database(file, mode));
}

Result<std::unique_lock<std::timed_mutex>> Database::take_turn() {
  std::unique_lock turn(writing_, longest_turn);
  if (turn.owns_lock()) return Result<std::unique_lock<std::timed_mutex>>(std::move(turn));
  return fail(Errc::io_failed,
              "{}: another thread has been writing for {} s; nothing was changed. Try again later",
              file_.string(), longest_turn.count() / 1000);
}

Result<bool> find_file(const std::filesystem::path& file, bool create, std::string_view how_to_make_one) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) return true;
  if (!create)
    return fail(Errc::not_found, "there is no store at {} yet: {}", file.string(), how_to_make_one);
  if (file.has_parent_path()) {
    std::filesystem::create_directories(file.parent_path(), error);
    if (error)
      return fail(Errc::io_failed, "{}: the folder cannot be made ({})", file.parent_path().string(),
                  error.message());
  }
  return false;
}

}  // namespace plimsoll::sqlite
