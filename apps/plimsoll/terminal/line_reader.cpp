#include "terminal/line_reader.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#ifdef PLIMSOLL_LIBEDIT
#include <editline/readline.h>
#endif

namespace plimsoll {

#ifdef PLIMSOLL_LIBEDIT

namespace {

constexpr int most_lines = 1'000;

}  // namespace

LineReader::LineReader(std::filesystem::path history)
    : history_(std::move(history)), is_terminal_(isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) {
  if (!is_terminal_) return;
  using_history();
  stifle_history(most_lines);
  read_history(history_.c_str());  // fails the first time, when there is no file
}

LineReader::~LineReader() {
  if (!is_terminal_ || history_length == 0) return;
  const mode_t before = umask(S_IRWXG | S_IRWXO);
  write_history(history_.c_str());
  umask(before);
}

std::optional<std::string> LineReader::next(const char* prompt) {
  if (is_terminal_) {
    const std::unique_ptr<char, decltype(&std::free)> typed(readline(prompt), &std::free);
    if (!typed) return std::nullopt;
    if (*typed != '\0') add_history(typed.get());
    return std::string(typed.get());
  }
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

#else

LineReader::LineReader(std::filesystem::path history)
    : history_(std::move(history)), is_terminal_(isatty(STDIN_FILENO) != 0) {}

LineReader::~LineReader() = default;

std::optional<std::string> LineReader::next(const char* prompt) {
  if (is_terminal_ && std::fputs(prompt, stdout) >= 0) (void)std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

#endif

}  // namespace plimsoll
