// A disk that loses power: files of one folder are written as SQLite wants, and beside that it is kept what a
// disk would still hold if the power went now. What was written since a file's last sync may be there or not,
// in part, in any order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// One at a time: it is SQLite's default while it lives, and leaves files of other folders alone.
class FailingDisk {
 public:
  explicit FailingDisk(const std::filesystem::path& folder);
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
  ~FailingDisk();

  // What may be on the disk after a loss of power, written to another folder: at this moment, or within the
  // given number of calls of SQLite's from now on.
  void lose_power(const std::filesystem::path& to, std::mt19937& random) const;
  void lose_power_in(int calls, std::filesystem::path to, std::mt19937& random);
  bool has_lost_power() const { return calls_left_ == 0; }
  std::size_t syncs() const { return syncs_; }

  // ---- For SQLite ----
  bool tracks(std::string_view path) const { return path.starts_with(prefix_); }
  void opened(const std::string& path, bool is_new);
  void written(const std::string& path, std::int64_t at, std::string_view bytes);
  void truncated(const std::string& path, std::int64_t size);
  void synced(const std::string& path);
  void deleted(const std::string& path, bool at_once);

 private:
  struct Change {
    std::int64_t at = 0;  // or the size, where bytes are none
    std::string bytes;
    bool is_truncation = false;
  };
  struct File {
    bool exists = false;  // on the disk, for sure
    bool may_be_gone = false;
    std::string durable;
    std::vector<Change> since;  // the last sync
  };
  static void apply(const Change& change, std::string& content);
  void write_what_is_left(const std::filesystem::path& to, std::mt19937& random) const;
  void count_call();

  std::string prefix_;
  mutable std::mutex mutex_;
  std::map<std::string, File> files_;
  std::size_t syncs_ = 0;
  int calls_left_ = -1;  // until the power fails; below 0: it does not
  std::filesystem::path to_;
  std::mt19937* random_ = nullptr;
};

}  // namespace plimsoll
