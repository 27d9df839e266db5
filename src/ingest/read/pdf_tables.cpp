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
constexpr std::size_t least_short_paragraphs = 6;

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

bool is_table(const std::vector<Cells>& rows) {
  if (rows.size() < least_rows) return false;
  std::size_t cells = 0, bytes = 0, like_the_first = 0;
  for (const Cells& row : rows) {
    cells += row.size();
    for (const std::string& cell : row) bytes += cell.size();
    like_the_first += row.size() == rows.front().size() ? 1 : 0;
  }
  return like_the_first * 3 >= rows.size() * 2 && bytes <= cells * most_mean_cell;
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

// Matches lines from `from` on against the cells, each as often as the table has it. True:
// all matched.
bool take_cells(const std::vector<std::string>& lines, std::size_t from, CellCounts left, std::size_t cells,
                std::size_t& end, std::size_t& steps) {
  for (std::size_t at = from; at < lines.size() && cells > 0; ++at) {
    if (steps == 0) return false;
    --steps;
    if (lines[at].empty()) continue;
    // A line may have several cells of a row.
    const auto whole = left.find(lines[at]);
    if (whole != left.end() && whole->second > 0) {
      --whole->second;
      --cells;
    } else {
      std::string_view rest = lines[at];
      while (!rest.empty()) {
        steps -= std::min(steps, left.size());
        const auto cell = std::ranges::find_if(left, [&](const auto& one) {
          return one.second > 0 && rest.starts_with(one.first) &&
                 (rest.size() == one.first.size() || rest[one.first.size()] == ' ');
        });
        if (cell == left.end()) return false;
        --cell->second;
        --cells;
        rest.remove_prefix(std::min(rest.size(), cell->first.size() + 1));
      }
    }
    end = at + 1;
  }
  return cells == 0;
}

}  // namespace

bool may_have_tables(std::string_view page) {
  std::size_t row = 0, lines = 0;
  bool found = false, is_short = true;
  const auto paragraph = [&] {
    if (lines == 0) return;
    row = is_short && lines <= 4 ? row + lines : 0;
    found = found || row >= least_short_paragraphs;
    lines = 0;
    is_short = true;
  };
  each_line(page, [&](Span line) {
    const std::size_t size = trimmed(page, line).size();
    if (size == 0) {
      paragraph();
    } else {
      ++lines;
      is_short = is_short && size <= longest_cell;
    }
  });
  paragraph();
  return found;
}

std::vector<PageTable> find_tables(std::string_view page, std::string_view layout) {
  std::vector<PageTable> out;
  const std::vector<std::string> lines = lines_of(page);
  std::size_t from = 0, steps = steps_per_line * lines.size();
  for (const std::vector<Cells>& rows : tables_of(layout)) {
    CellCounts left;
    std::size_t cells = 0;
    for (const Cells& row : rows)
      for (const std::string& cell : row) {
        ++left[cell];
        ++cells;
      }
    for (std::size_t at = from; at < lines.size(); ++at) {
      std::size_t end = at;
      if (lines[at].empty()) continue;
      steps -= std::min(steps, left.size());  // cost of the copy
      if (!take_cells(lines, at, left, cells, end, steps)) continue;
      PageTable table{at, end, {}};
      for (const Cells& row : rows) table.rows.push_back(fmt::format("{}", fmt::join(row, " | ")));
      out.push_back(std::move(table));
      from = end;
      break;
    }
  }
  return out;
}

}  // namespace plimsoll::ingest
