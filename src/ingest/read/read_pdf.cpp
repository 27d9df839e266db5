// Reads PDFs with `pdftotext` of poppler. Poppler is under the GPL and parses untrusted files in C++, so it
// runs as a separate process with limits. Spans refer to the extracted text, and the lines of paragraphs are
// joined again.
#include <algorithm>
#include <cctype>
#include <map>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/builder.hpp"
#include "ingest/lines.hpp"
#include "ingest/read/child_process.hpp"
#include "ingest/read/decode.hpp"
#include "ingest/read/pdf_tables.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_word_letter(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z') || (c & '\x80') != 0;
}

bool opens_item(std::string_view line) {
  constexpr std::string_view bullets[] = {"- ",           "* ",          "\xE2\x80\xA2", "\xE2\x80\x93 ",
                                          "\xE2\x97\xA6", "\xE2\x96\xAA"};
  for (const std::string_view bullet : bullets)
    if (line.starts_with(bullet)) return true;
  std::size_t digits = 0;
  while (digits < line.size() && digits < 3 && line[digits] >= '0' && line[digits] <= '9') ++digits;
  return digits > 0 && digits + 1 < line.size() && (line[digits] == '.' || line[digits] == ')') &&
         line[digits + 1] == ' ';
}

// Joins lines of a paragraph: a line is joined to the previous one if that was long enough.
class Paragraph {
 public:
  explicit Paragraph(Builder& into) : into_(into) {}

  void line(std::string_view line) {
    lines_.push_back(line);
    width_ = std::max(width_, line.size());
  }

  void end() {
    if (lines_.empty()) return;
    if (into_.size() > 0) into_.append_own("\n\n");
    const std::uint64_t start = into_.size();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i > 0) join(lines_[i - 1], lines_[i]);
      into_.append_own(lines_[i]);
    }
    into_.block(BlockKind::paragraph, {start, into_.size()});
    lines_.clear();
    width_ = 0;
  }

 private:
  void join(std::string_view before, std::string_view line) {
    constexpr std::size_t least_width = 30;
    if (width_ < least_width || before.size() * 3 < width_ * 2 || opens_item(line)) {
      into_.append_own("\n");
      return;
    }
    // "exam-" and "ple" were one word.
    const bool hyphen =
        before.size() > 2 && before.back() == '-' && is_word_letter(before[before.size() - 2]);
    if (hyphen && is_lower(line.front()))
      into_.take_back(into_.size() - 1);
    else if (!hyphen)
      into_.append_own(" ");
  }

  Builder& into_;
  std::vector<std::string_view> lines_;
  std::size_t width_ = 0;
};

// Returns the page at `at` and moves `at` past it.
std::string_view page_at(std::string_view pages, std::size_t& at) {
  if (at >= pages.size()) return {};
  const std::size_t end = std::min(pages.find('\f', at), pages.size());
  const std::string_view page = pages.substr(at, end - at);
  at = end + 1;
  return page;
}

void add_table(Builder& into, const PageTable& table) {
  const std::uint32_t lead = into.lead(table.rows.front());
  if (into.size() > 0) into.append_own("\n");
  for (const std::string& row : table.rows) {
    if (into.size() > 0) into.append_own("\n");
    const std::uint64_t start = into.size();
    into.append_own(row);
    into.block(BlockKind::table_row, {start, into.size()}, lead);
  }
}

// A table takes the place of its first cell.
void add_page(Builder& into, std::string_view page, const std::vector<PageTable>& tables) {
  std::map<std::size_t, const PageTable*> cells;  // by line; null: the table was added before
  for (const PageTable& table : tables)
    for (const std::size_t line : table.lines) cells[line] = line == table.lines.front() ? &table : nullptr;
  Paragraph paragraph(into);
  std::size_t number = 0;
  each_line(page, [&](Span line) {
    const auto cell = cells.find(number++);
    const Span content = trimmed(page, line);
    if (cell == cells.end() && content.size() > 0) {
      paragraph.line(page.substr(content.start, content.size()));
      return;
    }
    paragraph.end();
    if (cell != cells.end() && cell->second != nullptr) add_table(into, *cell->second);
  });
  paragraph.end();
}

bool any_page_may_have_tables(std::string_view pages) {
  for (std::size_t at = 0; at < pages.size();)
    if (may_have_tables(page_at(pages, at))) return true;
  return false;
}

std::string first_line(std::string_view text) {
  return one_line(text.substr(0, text.find('\n')), 200);
}

}  // namespace

ReadDocument read_pages(std::string_view pages, std::string_view layout) {
  Builder into("application/pdf");
  std::uint32_t number = 1;
  for (std::size_t at = 0, at_layout = 0; at < pages.size(); ++number) {
    const std::string_view page = page_at(pages, at), columns = page_at(layout, at_layout);
    into.page(number);
    add_page(into, page, find_tables(page, columns));
  }
  into.not_addressable();
  return std::move(into).finish();
}

Result<ReadDocument> read_pdf(std::string_view bytes, const ReadOptions& options) {
  const ChildLimits limits{.time = options.pdf_time,
                           .memory_bytes = options.pdf_memory_bytes,
                           .output_bytes = options.max_document_bytes};
  auto run = run_child({options.pdftotext, "-q", "-enc", "UTF-8", "-eol", "unix", "-l",
                        fmt::format("{}", options.pdf_pages), "{input}", "-"},
                       bytes, limits);
  if (!run && run.error().code == Errc::not_found)
    return fail(Errc::io_failed,
                "'{}' is needed to read PDFs but was not found; install the package poppler-utils",
                options.pdftotext);
  TRY(const ChildOutput child, std::move(run));
  if (child.cut)
    return fail(Errc::bad_input,
                "its text is longer than the limit of {} for a document; raise max_document_bytes",
                base::human_bytes(options.max_document_bytes));
  if (child.status >= 128)
    return fail(Errc::bad_input, "damaged, or needs more than {} of memory: pdftotext was ended by signal {}",
                base::human_bytes(options.pdf_memory_bytes), child.status - 128);
  if (child.status != 0) {
    // With -q poppler prints no errors; runs it again without -q to get the reason.
    const auto loud = run_child({options.pdftotext, "-l", "1", "{input}", "-"}, bytes, limits);
    const std::string why = loud ? first_line(loud->errors) : std::string{};
    return fail(Errc::bad_input, "the PDF cannot be read: {}", why.empty() ? "damaged or protected" : why);
  }
  Decoded decoded;
  std::string output = child.output;
  std::replace(output.begin(), output.end(), '\0', ' ');
  TRY_VOID(decode(output, decoded));
  Decoded columns;
  std::string with_columns;
  if (any_page_may_have_tables(decoded.text)) {
    auto layout = run_child({options.pdftotext, "-q", "-layout", "-enc", "UTF-8", "-eol", "unix", "-l",
                             fmt::format("{}", options.pdf_pages), "{input}", "-"},
                            bytes, limits);
    if (layout && layout->status == 0 && !layout->cut) with_columns = std::move(layout->output);
    std::replace(with_columns.begin(), with_columns.end(), '\0', ' ');
    if (!decode(with_columns, columns)) columns.text = {};  // then tables are not reconstructed
  }
  ReadDocument read = read_pages(decoded.text, columns.text);
  if (read.blocks.empty())
    return fail(Errc::unsupported, "the PDF has no text; it may be a scan, and images are not read");
  if (static_cast<std::uint64_t>(std::count(output.begin(), output.end(), '\f')) >= options.pdf_pages)
    read.warnings.push_back(fmt::format("only the first {} pages were read", options.pdf_pages));
  return read;
}

}  // namespace plimsoll::ingest
