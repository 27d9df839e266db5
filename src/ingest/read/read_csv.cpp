// Comma- or tab-separated values: a row is a block, and the first row is the lead of all others.
#include <algorithm>

#include "ingest/builder.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::ingest {
namespace {

class Rows {
 public:
  Rows(std::string_view text, char separator) : text_(text), separator_(separator) {
    // Many countries use a decimal comma, and a semicolon as separator.
    const std::string_view first = text.substr(0, std::min(text.find('\n'), text.size()));
    if (separator == ',' &&
        std::count(first.begin(), first.end(), ';') > std::count(first.begin(), first.end(), ','))
      separator_ = ';';
  }

  // Returns the end of the row at `at`, without its line end. An unclosed quote would turn the rest of the
  // file into one field, so from there on quotes are ignored.
  std::size_t end_of(std::size_t at) {
    if (quotes_)
      if (const std::size_t end = end_with_quotes(at); end != std::string_view::npos) return end;
    return line_end(at);
  }

 private:
  std::size_t line_end(std::size_t at) const {
    return std::min(text_.find_first_of("\r\n", at), text_.size());
  }

  std::size_t end_with_quotes(std::size_t at) {
    bool field_starts = true;
    while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r') {
      if (field_starts && text_[at] == '"') {
        at = closing_quote(at + 1);
        if (at == std::string_view::npos) {
          quotes_ = false;
          return at;
        }
      }
      field_starts = text_[at] == separator_;
      ++at;
    }
    return at;
  }

  std::size_t closing_quote(std::size_t at) const {
    while (true) {
      at = text_.find('"', at);
      if (at == std::string_view::npos) return at;
      if (at + 1 >= text_.size() || text_[at + 1] != '"') return at;
      at += 2;
    }
  }

  std::string_view text_;
  char separator_;
  bool quotes_ = true;
};

// Column names have letters; a first row of numbers is a normal row.
bool is_header(std::string_view row) {
  return std::any_of(row.begin(), row.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c & '\x80') != 0;
  });
}

}  // namespace

ReadDocument read_csv(std::string_view text, const MediaType& type) {
  Builder into(type.name, text);
  Rows rows(text, type.separator);
  std::uint32_t lead = 0;
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = rows.end_of(at);
    const std::string_view row = text.substr(at, end - at);
    if (first && trimmed(text, {at, end}).size() > 0) {
      if (is_header(row)) lead = into.lead(row);
      first = false;
    }
    into.block(BlockKind::table_row, {at, end}, lead);
    at = end + 1;  // the second half of \r\n is an empty row
  }
  return std::move(into).finish();
}

}  // namespace plimsoll::ingest
