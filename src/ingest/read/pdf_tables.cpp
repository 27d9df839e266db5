#include "ingest/read/pdf_tables.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ingest/builder.hpp"
#include "ingest/lines.hpp"

namespace plimsoll::ingest {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t least_rows = 3;
constexpr std::size_t least_gap = 2;      // blanks between two cells
constexpr std::size_t longest_cell = 60;  // a column of prose is wider
constexpr std::size_t most_mean_cell = 28;
constexpr std::size_t least_cells = 2 * least_rows;
constexpr std::ptrdiff_t least_prose_words = 3;  // in a line of a narrow column

// Joins blanks, so that both versions of a cell are equal.
std::string plain(std::string_view text) {
  return one_line(text, text.size());
}

std::vector<std::string> lines_of(std::string_view page) {
  std::vector<std::string> out;
  each_line(page, [&](Span line) {
    const Span content = trimmed(page, line);
    out.push_back(plain(page.substr(content.start, content.size())));
  });
  return out;
}

Cells cells_of(std::string_view line) {
  Cells out;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string_view::npos;) {
    const std::size_t gap = std::min(line.find(std::string(least_gap, ' '), at), line.size());
    out.push_back(plain(line.substr(at, gap - at)));
    at = line.find_first_not_of(' ', gap);
  }
  return out;
}

bool is_row(const Cells& cells) {
  return cells.size() >= 2 &&
         std::ranges::all_of(cells, [](const std::string& cell) { return cell.size() <= longest_cell; });
}

// Returns whether the rows are lines of prose in narrow columns: most have several words, and most of these
// start inside a sentence.
bool is_prose(const std::vector<Cells>& rows) {
  std::size_t cells = 0, long_cells = 0, inside = 0;
  for (const Cells& row : rows)
    for (const std::string& cell : row) {
      ++cells;
      if (std::ranges::count(cell, ' ') + 1 < least_prose_words) continue;
      ++long_cells;
      inside += cell.front() >= 'a' && cell.front() <= 'z' ? 1 : 0;
    }
  return long_cells * 2 > cells && inside * 2 > long_cells;
}

bool is_table(const std::vector<Cells>& rows) {
  if (rows.size() < least_rows) return false;
  std::size_t cells = 0, bytes = 0, like_the_first = 0;
  for (const Cells& row : rows) {
    cells += row.size();
    for (const std::string& cell : row) bytes += cell.size();
    like_the_first += row.size() == rows.front().size() ? 1 : 0;
  }
  return like_the_first * 3 >= rows.size() * 2 && bytes <= cells * most_mean_cell && !is_prose(rows);
}

// Finds consecutive rows in the page with columns; up to two blank lines may separate them.
std::vector<std::vector<Cells>> tables_of(std::string_view layout) {
  std::vector<std::vector<Cells>> tables;
  std::vector<Cells> rows;
  std::size_t blank = 0;
  const auto end = [&] {
    if (is_table(rows)) tables.push_back(std::move(rows));
    rows.clear();
  };
  each_line(layout, [&](Span line) {
    const Cells cells = cells_of(layout.substr(line.start, line.size()));
    if (cells.empty()) {
      if (++blank > 2) end();
      return;
    }
    blank = 0;
    if (is_row(cells))
      rows.push_back(cells);
    else
      end();
  });
  end();
  return tables;
}

// Most steps per line when searching for the cells of a table. Real tables need a few; without a limit, a
// malicious page could take hours.
constexpr std::size_t steps_per_line = 200;

using CellCounts = std::map<std::string, int, std::greater<>>;  // longer cells before their prefixes

CellCounts counts_of(const std::vector<Cells>& rows) {
  CellCounts counts;
  for (const Cells& row : rows)
    for (const std::string& cell : row) ++counts[cell];
  return counts;
}

// Takes the cells of a line, which may have several cells of a row; returns how many. 0: it has other text.
std::size_t take_line(std::string_view line, CellCounts& left, std::size_t& steps) {
  std::vector<CellCounts::iterator> taken;
  while (!line.empty()) {
    auto cell = left.find(line);
    if (cell == left.end() || cell->second == 0) {
      steps -= std::min(steps, left.size());
      cell = std::ranges::find_if(left, [&](const auto& one) {
        return one.second > 0 && line.size() > one.first.size() && line[one.first.size()] == ' ' &&
               line.starts_with(one.first);
      });
    }
    if (cell == left.end() || steps == 0) {
      for (const auto& one : taken) ++one->second;
      return 0;
    }
    --cell->second;
    taken.push_back(cell);
    line.remove_prefix(std::min(line.size(), cell->first.size() + 1));
  }
  return taken.size();
}

}  // namespace

bool may_have_tables(std::string_view page) {
  std::size_t cells = 0;
  bool found = false;
  each_line(page, [&](Span line) {
    const std::size_t size = trimmed(page, line).size();
    if (size == 0) return;
    cells = size <= longest_cell ? cells + 1 : 0;
    found = found || cells >= least_cells;
  });
  return found;
}

std::vector<PageTable> find_tables(std::string_view page, std::string_view layout) {
  std::vector<PageTable> out;
  const std::vector<std::string> lines = lines_of(page);
  std::vector<bool> taken(lines.size(), false);
  std::size_t steps = steps_per_line * lines.size();
  // Returns the lines, from one on, that have the cells of all rows; empty: not all of them were found.
  const auto lines_with = [&](const std::vector<Cells>& rows, std::size_t from) {
    std::vector<std::size_t> found;
    CellCounts left = counts_of(rows);
    std::size_t cells = 0;
    for (const Cells& row : rows) cells += row.size();
    for (std::size_t at = from; at < lines.size() && cells > 0 && steps > 0; ++at) {
      --steps;
      const std::size_t here = taken[at] ? 0 : take_line(lines[at], left, steps);
      cells -= here;
      if (here > 0) found.push_back(at);
    }
    if (cells > 0) found.clear();
    return found;
  };
  for (const std::vector<Cells>& rows : tables_of(layout)) {
    PageTable table;
    // The last place where it can begin: a line before it may look like one of its cells.
    for (auto found = lines_with(rows, 0); !found.empty(); found = lines_with(rows, table.lines.front() + 1))
      table.lines = std::move(found);
    if (table.lines.empty()) continue;
    for (const std::size_t at : table.lines) taken[at] = true;
    for (const Cells& row : rows) table.rows.push_back(fmt::format("{}", fmt::join(row, " | ")));
    out.push_back(std::move(table));
  }
  return out;
}

}  // namespace plimsoll::ingest
