// Lines that a person types, with editing and history on a terminal; as they come from a pipe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace plimsoll {

class LineReader {
 public:
  // `history`: where typed lines are kept for the next time, readable by their owner alone. Only used on a
  // terminal. One at a time: the library behind it has one state for the whole program.
  explicit LineReader(std::filesystem::path history);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  // The next line without its end. None: there are no more.
  std::optional<std::string> next(const char* prompt);

 private:
  std::filesystem::path history_;
  bool is_terminal_;
};

}  // namespace plimsoll
