// Recognises text that has a question's words and answers nothing: entries of a table of contents, lists of
// links, and text that was read wrongly.
#pragma once

#include <string_view>

namespace plimsoll::retrieve {

// Returns what a sentence is worth as evidence: 1, or less for clutter. By its characters alone.
float worth_of(std::string_view sentence);

}  // namespace plimsoll::retrieve
