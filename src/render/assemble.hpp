// The request as it is sent: messages that stay, facts and passages put in their places.
//
// Order keeps a server's prefix cache warm: what changes least comes first. Facts follow the system prompt;
// passages stand right before the question, inside the user's message, because many chat templates allow no
// second system message.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace plimsoll::render {

struct Fact {
  std::string id;
  std::string text;
};

struct Passage {
  std::string id;
  std::string text;
};

// What one of them costs in its place, to be counted.
std::string fact_text(const Fact& fact);
std::string passage_text(const Passage& passage);
// What stands around all of them.
std::string facts_frame();
std::string passages_frame();

struct Assembly {
  std::vector<bool> keep;    // by message
  std::size_t question = 0;  // the message that passages stand in
  std::vector<Fact> facts;
  std::vector<Passage> passages;
};

// `body`: an object with `messages`. Where there is no system message, facts stand before the passages.
nlohmann::ordered_json assemble(const nlohmann::ordered_json& body, const Assembly& assembly);

}  // namespace plimsoll::render
