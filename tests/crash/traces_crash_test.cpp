// A writer of traces is killed while it writes: every trace that it had said to be kept is there afterwards.
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/traces.hpp"
#include "base/temporary_folder.hpp"

namespace plimsoll {
namespace {

constexpr int batch = 3;

std::string id_of(int number) {
  return fmt::format("t{:08}", number);
}

// Keeps batches from `first` on, each told to the pipe once it is kept, until it is killed.
[[noreturn]] void keep_until_killed(const std::filesystem::path& file, int first, int pipe) {
  auto store = sqlite::open_traces(file);
  if (!store) ::_exit(2);
  for (int next = first;; next += batch) {
    std::vector<Trace> traces(batch);
    for (int i = 0; i < batch; ++i) {
      traces[static_cast<std::size_t>(i)].id = id_of(next + i);
      traces[static_cast<std::size_t>(i)].owner = "local";
    }
    if (!(*store)->keep(traces, {}, {}, {.most = 1'000'000, .oldest_ms = std::int64_t{1} << 60})) ::_exit(3);
    if (::write(pipe, &next, sizeof(next)) != sizeof(next)) ::_exit(4);
  }
}

TEST(Crash, LosesNoTraceThatWasSaidToBeKept) {
  const base::TemporaryFolder folder("crash");
  const auto file = folder / "store.db";
  std::mt19937 rng{6};
  int next = 0, kept = 0;
  for (int round = 0; round < 10; ++round) {
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      keep_until_killed(file, next, ends[1]);
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + rng() % 80));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself: " << WEXITSTATUS(status);

    auto store = sqlite::open_traces(file);
    ASSERT_TRUE(store) << store.error().what;
    for (int told = 0; ::read(ends[0], &told, sizeof(told)) == sizeof(told); ++kept) {
      for (int i = 0; i < batch; ++i) ASSERT_TRUE((*store)->trace("local", id_of(told + i)));
      next = told + batch;
    }
    ::close(ends[0]);
    // The batch that it died at is there as a whole or not at all.
    const auto beyond = (*store)->traces("local", {.after = id_of(next - 1), .limit = 100});
    ASSERT_TRUE(beyond);
    ASSERT_TRUE(beyond->empty() || beyond->size() == batch) << beyond->size();
    next += static_cast<int>(beyond->size());
  }
  EXPECT_GT(kept, 10);
}

}  // namespace
}  // namespace plimsoll
