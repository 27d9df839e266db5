// Reads lines of input, with editing and history on a terminal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace plimsoll {

class LineReader {
 public:
  // `history`: file for typed lines, readable by its owner only. Used only on a terminal. Only one reader may
  // exist at a time: the library has one global state.
  explicit LineReader(std::filesystem::path history);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  // Returns the next line without its newline; none at the end of input.
  std::optional<std::string> next(const char* prompt);

 private:
  std::filesystem::path history_;
  bool is_terminal_;
};

}  // namespace plimsoll
