// Assembles the request to send: the kept messages with facts and passages inserted.
//
// The order keeps a server's prefix cache valid: what changes least comes first. Facts follow the system
// prompt; passages are directly before the question, inside the user message, because many chat templates
// allow only one system message. Turns that were found for the question are before the passages, because they
// change with each question. A summary of older turns follows the system prompt for the same reason, and
// because it changes less often than everything after it; without a system prompt it is at the start of the
// first user message.
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
  std::string provider{};  // memory provider, which has its own block; empty: the first block
};

struct Passage {
  std::string id;
  std::string text;
};

// A summary that replaces turns.
struct Summary {
  std::string text;
  std::size_t messages = 0;  // that it replaces
};

// A turn that left the window and answers the question, or a part of it.
struct EarlierTurn {
  std::size_t number = 0;  // of the turn in the conversation, from 1
  bool by_user = false;
  std::int64_t at_ms = 0;  // UTC; 0: not known
  std::string text;
  bool cut_before = false, cut_after = false;

  std::string id() const;  // "turn:12:user"
};

// Returns the default instruction for using passages.
std::string_view instruction_for(Policy policy);

// Returns the text of one item in the prompt, for counting.
std::string fact_text(const Fact& fact);
std::string passage_text(const Passage& passage);
std::string summary_text(const Summary& summary);
std::string earlier_text(const EarlierTurn& turn);
// Returns the text around all items.
std::string facts_frame(std::span<const Fact> facts);
std::string passages_frame(std::string_view instruction);
std::string earlier_frame();

struct Assembly {
  std::vector<bool> keep;    // by message
  std::size_t question = 0;  // the message for passages
  std::vector<Fact> facts;
  std::vector<Passage> passages;
  std::optional<Summary> summary;
  std::vector<EarlierTurn> earlier{};
  std::string instruction{};  // how to use the passages, between them and the question; or empty
};

// Returns the message for the summary: the leading system message, else the first kept user
// message.
std::size_t summary_place(const nlohmann::ordered_json& messages, const Assembly& assembly);

// `body`: an object with `messages`. Without a system message, facts are put before the passages.
nlohmann::ordered_json assemble(const nlohmann::ordered_json& body, const Assembly& assembly);

}  // namespace plimsoll::render
