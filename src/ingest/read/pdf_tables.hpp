// Finds tables in a PDF. In reading order pdftotext prints each cell or each column as a paragraph, sometimes
// with other text between two columns; with -layout it keeps the columns of the page, which preserves table
// rows but mixes columns of prose. So the text comes from the first, and table rows from the second.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::ingest {

struct PageTable {
  std::vector<std::size_t> lines;  // of the page in reading order, with its cells; ascending, at least one
  std::vector<std::string> rows;   // "a | b | c", from the header on
};

// Returns whether a page in reading order may have a table: several lines in a row are as short as cells.
bool may_have_tables(std::string_view page);

// `page`: in reading order; `layout`: the same page with columns. Tables whose cells are not all in `page`
// are left out.
std::vector<PageTable> find_tables(std::string_view page, std::string_view layout);

}  // namespace plimsoll::ingest
