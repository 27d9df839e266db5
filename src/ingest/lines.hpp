// Lines of a text: \n, \r\n and \r end one.
#pragma once

#include <string_view>

#include "plimsoll/document.hpp"

namespace plimsoll::ingest {

// visit(Span) for every line, without its end.
template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
    visit(Span{at, end});
    at = end + (end + 1 < text.size() && text[end] == '\r' && text[end + 1] == '\n' ? 2 : 1);
  }
}

// Whether the line ends of a paragraph were set where the next word did not fit: they mean nothing then.
bool is_wrapped(std::string_view paragraph);

}  // namespace plimsoll::ingest
