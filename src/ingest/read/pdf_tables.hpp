// Tables in a PDF. In reading order pdftotext gives each cell as a paragraph, often column by column; with
// -layout it keeps the columns of the page, which makes rows of tables and a mess of two columns of prose. So
// the text comes from the first, and the rows of its tables from the second.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::ingest {

struct PageTable {
  std::size_t first_line = 0, end_line = 0;  // of the page in reading order: the lines that its cells fill
  std::vector<std::string> rows;             // "a | b | c", from the header on
};

// Whether a page in reading order may hold a table: several short paragraphs of one line in a row.
bool may_have_tables(std::string_view page);

// `page`: in reading order; `layout`: the same page with its columns. Tables whose cells are not found in a
// row on the page are left out.
std::vector<PageTable> find_tables(std::string_view page, std::string_view layout);

}  // namespace plimsoll::ingest
