#include "serve/wrapped_program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace plimsoll {
namespace {

// While it lives, this process ignores the signals that the terminal also sends to the program.
class LeftToTheProgram {
 public:
  LeftToTheProgram() {
    for (std::size_t i = 0; i < std::size(ours); ++i) before_[i] = std::signal(ours[i], SIG_IGN);
  }
  LeftToTheProgram(const LeftToTheProgram&) = delete;
  LeftToTheProgram& operator=(const LeftToTheProgram&) = delete;
  ~LeftToTheProgram() {
    for (std::size_t i = 0; i < std::size(ours); ++i) (void)std::signal(ours[i], before_[i]);
  }
  static constexpr int ours[] = {SIGINT, SIGQUIT};

 private:
  void (*before_[std::size(ours)])(int) = {};
};

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string entry = *one;
    if (!variables.contains(entry.substr(0, entry.find('=')))) out.push_back(entry);
  }
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Resets the signal mask as a shell would: this process has some signals blocked.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&value_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigmask(&value_, &none);
    posix_spawnattr_setsigdefault(&value_, &defaults);
    posix_spawnattr_setflags(&value_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&value_); }
  const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

}  // namespace

Result<int> run_program(const std::vector<std::string>& command, const Variables& variables) {
  std::vector<std::string> words = command, environment = environment_with(variables);
  const Attributes attributes;
  const LeftToTheProgram left;
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0].c_str(), nullptr, attributes.get(), pointers(words).data(),
                                  pointers(environment).data());
  if (failed != 0)
    return fail(failed == ENOENT || failed == EACCES ? Errc::not_found : Errc::io_failed,
                "cannot run '{}': {}", command[0], std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(Errc::io_failed, "cannot wait for '{}'", command[0]);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace plimsoll
