// A request to OpenAI's Responses API as the chat that it stands for.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace plimsoll::engine {

// The items of a request's input; a text is one message of the user's.
nlohmann::ordered_json items_of_input(const nlohmann::ordered_json& input);

// The body of a chat: `instructions` as the system's message, `items` as its messages, tools, the form of the
// answer and how long it may be. What a chat knows by the same name goes over as it is. Items that it cannot
// say are left out.
nlohmann::ordered_json chat_of_response(const nlohmann::ordered_json& request,
                                        const nlohmann::ordered_json& items);

// The first thing in it that a chat has no words for, as "tools[1] (web_search)"; empty: there is none.
std::string beyond_a_chat(const nlohmann::ordered_json& request, const nlohmann::ordered_json& items);

}  // namespace plimsoll::engine
