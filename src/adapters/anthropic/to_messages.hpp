// The messages of a chat as Anthropic's Messages API takes them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::anthropic {

// Names of fields that Anthropic's API cannot express, each listed once.
class LeftOut {
 public:
  void add(std::string name);
  bool empty() const { return names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

struct Conversation {
  nlohmann::ordered_json system;    // a text; blocks where one of them has a cache_control; or null
  nlohmann::ordered_json messages;  // of the user and the assistant in turn, each with a list of blocks
};

// System messages are moved to `system`. Neighbours of the same role become one message, in which results
// of tools come first. Texts that are blank are left out: the API refuses them. bad_input: what is wrong, by
// its place in the request.
Result<Conversation> to_messages(const nlohmann::ordered_json& messages, LeftOut& left_out);

}  // namespace plimsoll::anthropic
