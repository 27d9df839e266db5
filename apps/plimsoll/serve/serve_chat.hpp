// Wires the chat-with-documents API to the store, the engine and the collections.
#pragma once

#include "base/settings/settings.hpp"
#include "gateway/chat/chat_routes.hpp"

namespace plimsoll {

// All that is given outlives it.
class ServedChat {
 public:
  ServedChat(const base::Settings& settings, engine::Engine& engine, library::Collections& collections,
             std::unique_ptr<SessionStore> sessions, gateway::ThreadMaker maker, gateway::Gate& gate);

  gateway::ChatContext context();
  // What ran when the last server ended is marked so. For one who knows that no other serves the store.
  Result<void> interrupt_runs() { return sessions_->interrupt_runs(); }
  // Whether uploads or evaluations are under way.
  bool is_busy() const { return uploads_.are_under_way() || evaluations_.are_under_way(); }

 private:
  const base::Settings& settings_;
  library::Collections& collections_;
  std::unique_ptr<SessionStore> sessions_;
  gateway::Evaluations evaluations_;
  gateway::Uploads uploads_;
};

}  // namespace plimsoll
