// The chat-with-documents API: conversations with an index, search, evaluations, uploads (C1 to C4).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evidence/document_chat.hpp"
#include "engine/evidence/memories.hpp"
#include "gateway/chat/chat_answer.hpp"
#include "gateway/chat/chat_read.hpp"
#include "gateway/chat/extraction.hpp"
#include "gateway/documents/evaluation.hpp"
#include "gateway/documents/upload.hpp"
#include "gateway/router.hpp"
#include "library/collections.hpp"

namespace plimsoll::gateway {

struct ChatContext {
  library::Collections* collections = nullptr;  // null: no such routes
  SessionStore* sessions = nullptr;
  engine::Memories* memories = nullptr;  // null: none
  Extraction* extraction = nullptr;      // null: facts are not extracted automatically
  Evaluations* evaluations = nullptr;
  Uploads* uploads = nullptr;
  SessionLimits limits{};
  ChatBounds bounds{};
};

class ChatRoutes {
 public:
  // Both must outlive it.
  ChatRoutes(engine::Engine& engine, ChatContext context) : engine_(engine), context_(context) {}

  // Adds the routes if there are collections.
  void add_routes(Router& router) const;

  using Answer = JsonAnswer;

 private:
  Awaitable<void> message(Call call) const;
  Awaitable<void> upload(Call call) const;
  // These functions block.
  Answer search(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer list_sessions(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer show_session(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer forget_session(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer start_evaluation(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer list_evaluations(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer show_evaluation(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer show_job(const ClientRequest& request, const std::string& name, Deadline deadline) const;

  struct Prepared {
    std::optional<Answer> refused;
    MessageAsk ask;
    std::string index;
    std::string body;  // of a chat completion
    Turn question;
  };
  Prepared prepare(const ClientRequest& request) const;
  Answer accept_upload(ClientRequest& request, std::string& job, bool& wait) const;
  // By name or by number. not_found: "No such index: 'X' exists."
  Result<std::string> collection_named(const engine::Caller& caller, const std::string& collection) const;
  struct Search {
    engine::RetrievalChoice choice;
    std::optional<Tokenizer> tokenizer;  // the model's, if its window is known
    bool best_last = false;
  };
  Search search_for(const MessageAsk& ask, Deadline deadline) const;

  engine::Engine& engine_;
  ChatContext context_;
};

// Returns {"detail": ...} with the status of the error.
ChatRoutes::Answer refusal(const Error& error);

}  // namespace plimsoll::gateway
