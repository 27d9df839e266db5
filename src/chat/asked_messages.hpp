// Checks the messages of a request that names an index, with RAGEngine's rules and words (K2).
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::chat {

// Joins the user messages since the last answer into one, with blank lines between them: they are one
// question, and many templates allow only one message per role in a row. True: something was joined. A
// request without an index, or one passed on without documents (K1), is not changed.
Result<bool> join_asked_messages(nlohmann::ordered_json& body);

}  // namespace plimsoll::chat
