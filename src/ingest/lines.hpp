// Splits a text into lines at \n, \r\n and \r.
#pragma once

#include <string_view>

#include "plimsoll/document.hpp"

namespace plimsoll::ingest {

// Calls visit(Span) for every line, without its end.
template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
    visit(Span{at, end});
    at = end + (end + 1 < text.size() && text[end] == '\r' && text[end + 1] == '\n' ? 2 : 1);
  }
}

// Returns whether a paragraph is hard-wrapped, so that its line ends have no meaning.
bool is_wrapped(std::string_view paragraph);

}  // namespace plimsoll::ingest
