// Converts a request of OpenAI's Responses API to a chat.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace plimsoll::chat {

// Returns the items of a request's input; a string is one user message.
nlohmann::ordered_json items_of_input(const nlohmann::ordered_json& input);

// Returns the items as they are listed: each with an id, and messages with a list of contents. `response`:
// the id of the response, from which ids are made for items that have none.
nlohmann::ordered_json listed_items(const nlohmann::ordered_json& items, std::string_view response);

// Returns the body of a chat: `instructions` as the system message, `items` as messages, tools, format and
// length of the answer. Fields with the same name are copied. Items that a chat does not support
// are left out.
nlohmann::ordered_json chat_of_response(const nlohmann::ordered_json& request,
                                        const nlohmann::ordered_json& items);

// Returns the first element that a chat does not support, such as "tools[1] (web_search)"; empty: none.
std::string beyond_a_chat(const nlohmann::ordered_json& request, const nlohmann::ordered_json& items);

}  // namespace plimsoll::chat
