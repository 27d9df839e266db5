// What standard output is, and how to draw on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

struct Terminal {
  std::size_t columns = 0;  // 0: a pipe or file, which has no width
  bool colour = false;      // a terminal that shows colours, and NO_COLOR is not set
};
Terminal terminal_of_stdout();

// All of it, or io_failed.
Result<void> print_out(std::string_view text);

// Rows of cells as an aligned table with a header. Columns named in `right` are numbers.
struct Table {
  std::vector<std::string> header;
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows;
  bool total = false;  // the last row stands under a rule
};
// Wider than the terminal: the first column is cut, from the left, with an ellipsis.
std::string draw(const Table& table, const Terminal& terminal);

// A share of one as a bar of `width` cells, to an eighth of a cell; more than one fills it and ends in '!'.
std::string bar(double share, std::size_t width);

// Columns that a drawing takes: the terminal's within reason, 80 where there is none.
std::size_t drawing_width(const Terminal& terminal);

std::string bold(const Terminal& terminal, std::string_view text);

// Words from left to right, broken before the edge; lines after the first stand under the first word.
std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

// What comes from outside, safe to print: control characters and those that turn the line around become
// U+FFFD, and beyond `most` characters there is an ellipsis.
std::string printable(std::string_view text, std::size_t most = 200);

// As a shell takes it for one word.
std::string as_argument(std::string_view text);

// "1 chunk", "2,000 chunks".
std::string several(std::uint64_t count, std::string_view noun);

// Cells that a text takes: characters, wide ones twice, marks not at all.
std::size_t display_width(std::string_view text);

}  // namespace plimsoll
