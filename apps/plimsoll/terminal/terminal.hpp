// Properties of standard output, and functions to draw on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

struct Terminal {
  std::size_t columns = 0;  // 0: a pipe or file
  bool colour = false;      // a terminal that shows colours, and NO_COLOR is not set
};
Terminal terminal_of_stdout();

// Writes the whole text, or fails with io_failed.
Result<void> print_out(std::string_view text);

// An aligned table with a header. Columns marked in `right` are right-aligned.
struct Table {
  std::vector<std::string> header;
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows;
  bool total = false;  // a line is drawn above the last row
};
// If the table is too wide, the first column is shortened from the left, with an ellipsis.
std::string draw(const Table& table, const Terminal& terminal);

// Draws a share as a bar of `width` cells, to an eighth of a cell; a share above 1 fills it and ends in '!'.
std::string bar(double share, std::size_t width);

// Returns the width for drawings: the terminal's within limits, 80 without a terminal.
std::size_t drawing_width(const Terminal& terminal);

std::string bold(const Terminal& terminal, std::string_view text);

// Wraps text at `width`; lines after the first are indented.
std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

// Makes outside text safe to print: control and bidi characters become U+FFFD, and text beyond `most`
// characters becomes an ellipsis.
std::string printable(std::string_view text, std::size_t most = 200);

// Quotes text as one shell word.
std::string as_argument(std::string_view text);

// "1 chunk", "2,000 chunks".
std::string several(std::uint64_t count, std::string_view noun);
// Returns ", page 3", ", pages 3-4" or nothing; 0: not known.
std::string pages_text(std::uint64_t first, std::uint64_t last);

// Returns the width in cells: wide characters count twice, combining marks not at all.
std::size_t display_width(std::string_view text);

}  // namespace plimsoll
