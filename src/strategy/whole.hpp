// Detects questions about all documents, which are near the words of none.
#pragma once

#include <string_view>

namespace plimsoll::strategy {

// "Summarise everything", "What are the main topics of these files?", but not "Summarise the refund policy".
// English.
bool asks_for_the_whole(std::string_view query);

}  // namespace plimsoll::strategy
