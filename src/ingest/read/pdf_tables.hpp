// Finds tables in a PDF. In reading order pdftotext prints each cell as a paragraph, often column by column;
// with -layout it keeps the columns of the page, which preserves table rows but mixes columns of prose. So
// the text comes from the first, and table rows from the second.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::ingest {

struct PageTable {
  std::size_t first_line = 0, end_line = 0;  // lines of its cells in the page in reading order
  std::vector<std::string> rows;             // "a | b | c", from the header on
};

// Returns whether a page in reading order may have a table: several short one-line paragraphs in a row.
bool may_have_tables(std::string_view page);

// `page`: in reading order; `layout`: the same page with columns. Tables whose cells are not consecutive
// in `page` are left out.
std::vector<PageTable> find_tables(std::string_view page, std::string_view layout);

}  // namespace plimsoll::ingest
