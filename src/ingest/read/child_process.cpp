#include "ingest/read/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/try.hpp"

namespace plimsoll::ingest {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

struct Pipe {
  Descriptor read, write;
};

// Moves a descriptor above 2, as the child needs 0 to 2: a service may have been started without them.
Descriptor above_standard(int descriptor) {
  Descriptor low(descriptor);
  if (descriptor > 2 || descriptor < 0) return low;
  return Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
}

tl::unexpected<Error> system_failure(std::string_view doing) {
  return fail(Errc::io_failed, "cannot {}: {}", doing, std::generic_category().message(errno));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("make a pipe");
  Pipe pipe{.read = above_standard(ends[0]), .write = above_standard(ends[1])};
  if (pipe.read.get() < 0 || pipe.write.get() < 0) return system_failure("make a pipe");
  return pipe;
}

// Creates an anonymous file in memory, which is freed when it is closed.
Result<Descriptor> file_with(std::string_view bytes) {
  Descriptor file = above_standard(::memfd_create("document", MFD_CLOEXEC));
  if (file.get() < 0) return system_failure("make a file in memory");
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(file.get(), bytes.data() + at, bytes.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure("write a file in memory");
    at += static_cast<std::size_t>(written);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return system_failure("rewind a file in memory");
  return file;
}

// Finds the program in PATH before the fork, since the child may only make async-signal-safe calls.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const set = std::getenv("PATH");
  std::string_view folders = set != nullptr ? set : "/usr/local/bin:/usr/bin:/bin";
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    std::string path = fmt::format("{}/{}", folder, name);
    if (folder.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

struct Launch {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int input, output, errors, nothing;
  rlimit seconds, memory;
};

void limit(int what, rlimit amount) {
  ::setrlimit(static_cast<__rlimit_resource>(what), &amount);
}

// In the child: only async-signal-safe calls, since another thread of the parent may have held a lock.
[[noreturn]] void become(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(launch.nothing, 0) < 0 || ::dup2(launch.output, 1) < 0 || ::dup2(launch.errors, 2) < 0)
    ::_exit(127);
  // Keeps the file open across exec.
  if (::fcntl(launch.input, F_SETFD, 0) != 0) ::_exit(127);
  limit(RLIMIT_CORE, {0, 0});
  limit(RLIMIT_FSIZE, {0, 0});
  limit(RLIMIT_CPU, launch.seconds);
  limit(RLIMIT_AS, launch.memory);
  ::execve(launch.program, launch.arguments, launch.environment);
  ::_exit(127);
}

using Clock = std::chrono::steady_clock;

class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (id_ < 0) return;
    kill();
    wait(Clock::now());
  }
  void kill() const { ::kill(-id_, SIGKILL); }
  // Waits until `end`, then kills the process. Kills the rest of its group and returns the status like a
  // shell.
  int wait(Clock::time_point end) {
    int status = 0;
    bool killed = false;
    for (useconds_t pause = 100;; pause = std::min<useconds_t>(pause * 2, 20'000)) {
      const pid_t ended = ::waitpid(id_, &status, killed ? 0 : WNOHANG);
      if (ended == id_ || (ended < 0 && errno != EINTR)) break;
      if (!killed && Clock::now() >= end) {
        kill();
        killed = true;
      } else if (!killed) {
        ::usleep(pause);
      }
    }
    ::kill(-std::exchange(id_, -1), SIGKILL);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t id_;
};

// Reads the child's output until it closes both pipes. False: the time was up first.
bool take_output(Pipe& output, Pipe& errors, Clock::time_point end, std::uint64_t most, ChildOutput& into) {
  std::array<char, 65'536> buffer{};
  const auto take = [&](Descriptor& from, std::string& to, std::uint64_t limit_bytes) {
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
      from.close();
      return;
    }
    const auto room = static_cast<std::size_t>(limit_bytes - std::min<std::uint64_t>(to.size(), limit_bytes));
    to.append(buffer.data(), std::min(static_cast<std::size_t>(got), room));
    if (&to == &into.output && static_cast<std::size_t>(got) > room) {
      into.cut = true;
      from.close();
    }
  };
  while (output.read.get() >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> waiting{pollfd{output.read.get(), POLLIN, 0}, pollfd{errors.read.get(), POLLIN, 0}};
    const int ready =
        ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long long>(left, 1000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (waiting[1].revents != 0) take(errors.read, into.errors, 4096);
    if (waiting[0].revents != 0) take(output.read, into.output, most);
  }
  return true;
}

}  // namespace

Result<ChildOutput> run_child(const std::vector<std::string>& arguments, std::string_view input,
                              const ChildLimits& limits) {
  const std::string program = find_program(arguments.front());
  if (program.empty()) return fail(Errc::not_found, "program '{}' not found", arguments.front());
  TRY(Descriptor file, file_with(input));
  TRY(Pipe output, make_pipe());
  TRY(Pipe errors, make_pipe());
  const Descriptor nothing = above_standard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.get() < 0) return system_failure("open /dev/null");

  std::vector<std::string> words = arguments;
  for (std::string& word : words)
    if (word == "{input}") word = fmt::format("/proc/self/fd/{}", file.get());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // A minimal environment, without settings and keys of this process.
  std::array<std::string, 2> variables{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"};
  std::array<char*, 3> environment{variables[0].data(), variables[1].data(), nullptr};
  const auto seconds = static_cast<rlim_t>(limits.time.count() / 1000 + 1);
  const Launch launch{.program = program.c_str(),
                      .arguments = argv.data(),
                      .environment = environment.data(),
                      .input = file.get(),
                      .output = output.write.get(),
                      .errors = errors.write.get(),
                      .nothing = nothing.get(),
                      .seconds = {seconds, seconds + 1},
                      .memory = {limits.memory_bytes, limits.memory_bytes}};
  const Clock::time_point end = Clock::now() + limits.time;
  const pid_t id = ::fork();
  if (id < 0) return system_failure("start a process");
  if (id == 0) become(launch);
  ::setpgid(id, id);  // also in the child, whichever runs first
  Child child(id);
  output.write.close();
  errors.write.close();

  ChildOutput result;
  const bool in_time = take_output(output, errors, end, limits.output_bytes, result);
  if (!in_time || result.cut) child.kill();
  result.status = child.wait(end);
  if (!in_time || (result.status == 128 + SIGXCPU && !result.cut))
    return fail(Errc::timed_out, "'{}' did not finish within {} s", arguments.front(),
                static_cast<double>(limits.time.count()) / 1000);
  return result;
}

}  // namespace plimsoll::ingest
