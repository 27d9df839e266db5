#include "terminal/browser.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <thread>

namespace plimsoll {

Result<void> show_in_browser(const std::string& address) {
  const char* chosen = std::getenv("BROWSER");
  std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open", page = address;
  char* const words[] = {program.data(), page.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int stream : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  // This process blocks the signals that it waits for; the browser must get them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t id = 0;
  const int failed = posix_spawnp(&id, words[0], &files, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return fail(Errc::io_failed, "no browser was opened: {}: {}; open {} yourself", program,
                std::strerror(failed), address);
  std::thread([id] { ::waitpid(id, nullptr, 0); }).detach();
  return {};
}

}  // namespace plimsoll
