// The chat-with-documents API: conversations with an index, searching it, evaluations, uploads (C1 to C4).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/collection.hpp"
#include "engine/document_chat.hpp"
#include "engine/memories.hpp"
#include "gateway/chat_answer.hpp"
#include "gateway/chat_read.hpp"
#include "gateway/evaluation.hpp"
#include "gateway/extraction.hpp"
#include "gateway/openapi.hpp"
#include "gateway/upload.hpp"

namespace plimsoll::gateway {

struct ChatContext {
  engine::Collections* collections = nullptr;  // null: there are no such routes
  SessionStore* sessions = nullptr;
  engine::Memories* memories = nullptr;  // null: there are none
  Extraction* extraction = nullptr;      // null: nothing is remembered by itself
  Evaluations* evaluations = nullptr;
  Uploads* uploads = nullptr;
  SessionLimits limits{};
  ChatBounds bounds{};
};

class ChatRoutes {
 public:
  // Both outlive it.
  ChatRoutes(engine::Engine& engine, ChatContext context) : engine_(engine), context_(context) {}

  struct Call {
    engine::Crew& crew;
    ClientRequest& request;
    ClientReply& reply;
    Deadline deadline;
  };
  struct Route;
  struct Match {
    const Route* route;
    std::string name;  // a session, run or job, decoded
  };
  // `allowed`: the methods of a route whose path fits are added; none: none does.
  std::optional<Match> match(const ClientRequest& request, std::string& allowed) const;
  Awaitable<void> answer(Match match, Call call) const;

  static std::vector<RouteAbout> about();

  struct Answer {
    int status = 200;
    Json body;
    std::vector<HttpHeader> headers{};
  };

 private:
  static const std::vector<Route>& routes();

  Awaitable<void> message(Call call) const;
  Awaitable<void> upload(Call call) const;
  // These block.
  Answer search(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer list_sessions(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer show_session(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer forget_session(const ClientRequest& request, const std::string& name, Deadline deadline) const;
  Answer start_evaluation(const ClientRequest& request, const std::string& name, Deadline deadline) const;
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
    std::optional<Tokenizer> tokenizer;  // the model's, where its window is known
    bool best_last = false;
  };
  Search search_for(const MessageAsk& ask, Deadline deadline) const;

  engine::Engine& engine_;
  ChatContext context_;
};

struct ChatRoutes::Route {
  RouteAbout about;
  Answer (ChatRoutes::*blocking)(const ClientRequest& request, const std::string& name,
                                 Deadline deadline) const = nullptr;
  Awaitable<void> (ChatRoutes::*handler)(Call call) const = nullptr;
};

// {"detail": ...} with the status of the error.
ChatRoutes::Answer refusal(const Error& error);

}  // namespace plimsoll::gateway
