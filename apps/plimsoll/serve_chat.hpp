// Wires the chat-with-documents API to the store, the engine and the collections.
#pragma once

#include "base/settings.hpp"
#include "gateway/chat_routes.hpp"

namespace plimsoll {

// Sessions and runs of the store; what ran when the last server ended is marked so.
Result<std::unique_ptr<SessionStore>> open_chat_store(const base::Settings& settings);

// All that is given outlives it.
class ServedChat {
 public:
  ServedChat(const base::Settings& settings, engine::Engine& engine, engine::Collections& collections,
             std::unique_ptr<SessionStore> sessions, gateway::CrewMaker maker);

  gateway::ChatContext context();

 private:
  const base::Settings& settings_;
  engine::Collections& collections_;
  std::unique_ptr<SessionStore> sessions_;
  gateway::Evaluations evaluations_;
  gateway::Uploads uploads_;
};

}  // namespace plimsoll
