// The request as it is sent: messages that stay, facts and passages put in their places.
//
// Order keeps a server's prefix cache warm: what changes least comes first. Facts follow the system prompt;
// passages stand right before the question, inside the user's message, because many chat templates allow no
// second system message. A summary of older turns follows the system prompt for the same reason, and because
// it changes more seldom than all that comes after it; where there is no system prompt it stands before the
// first of the user's words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/budget.hpp"

namespace plimsoll::render {

struct Fact {
  std::string id;
  std::string text;
  std::string provider{};  // who remembers it: a block of its own, under that name; empty: the first block
};

struct Passage {
  std::string id;
  std::string text;
};

// What stands for turns that are not sent.
struct Summary {
  std::string text;
  std::size_t messages = 0;  // that it replaces
};

// What a model is told to do with passages, where nobody says otherwise.
std::string_view instruction_for(Policy policy);

// What one of them costs in its place, to be counted.
std::string fact_text(const Fact& fact);
std::string passage_text(const Passage& passage);
std::string summary_text(const Summary& summary);
// What stands around all of them.
std::string facts_frame(std::span<const Fact> facts);
std::string passages_frame(std::string_view instruction);

struct Assembly {
  std::vector<bool> keep;    // by message
  std::size_t question = 0;  // the message that passages stand in
  std::vector<Fact> facts;
  std::vector<Passage> passages;
  std::optional<Summary> summary;
  std::string instruction{};  // what to do with the passages: between them and the question; or empty
};

// The message that the summary stands in: the system message that the others follow, else the first one of
// the user's that stays.
std::size_t summary_place(const nlohmann::ordered_json& messages, const Assembly& assembly);

// `body`: an object with `messages`. Where there is no system message, facts stand before the passages.
nlohmann::ordered_json assemble(const nlohmann::ordered_json& body, const Assembly& assembly);

}  // namespace plimsoll::render
