// What RAGEngine asks of the messages of a request that names an index, in its words (K2).
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::engine {

// The user's messages since the last answer become one, with a blank line between them: they are one
// question, and many templates allow no two of a role in a row. True: something was joined. A request that
// names no index, or that is passed on without documents (K1), is left as it is.
Result<bool> join_asked_messages(nlohmann::ordered_json& body);

}  // namespace plimsoll::engine
