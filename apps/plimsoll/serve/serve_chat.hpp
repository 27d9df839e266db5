// Wires the chat-with-documents API to the store, the engine and the collections.
#pragma once

#include "config/settings.hpp"
#include "gateway/chat/chat_routes.hpp"

namespace plimsoll {

// All arguments must outlive it.
class ServedChat {
 public:
  ServedChat(const config::Settings& settings, engine::Engine& engine, library::Collections& collections,
             std::unique_ptr<SessionStore> sessions, gateway::ThreadMaker maker, gateway::Gate& gate);

  gateway::ChatContext context();
  // Marks jobs that were running when the last server ended. Call only if no other server uses the store.
  // Returns whether uploads or evaluations are running.
  bool is_busy() const { return uploads_.are_under_way() || evaluations_.are_under_way(); }

 private:
  const config::Settings& settings_;
  library::Collections& collections_;
  std::unique_ptr<SessionStore> sessions_;
  gateway::Evaluations evaluations_;
  gateway::Uploads uploads_;
};

}  // namespace plimsoll
