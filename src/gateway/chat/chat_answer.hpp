// Converts a completion with documents to the format of chat-with-documents clients.
#pragma once

#include <string>
#include <string_view>

#include "gateway/http/http_server.hpp"
#include "gateway/mcp/mcp.hpp"

namespace plimsoll::gateway {

struct DocumentAnswer {
  std::string text;
  std::string model;            // that answered
  Json chunks = Json::array();  // [{content, score, document, metadata, tokens, ...}], as they were sent
  Json optimization;            // context_window_optimization
  Json usage, finish_reason;
  Json plimsoll;  // the plan's summary, without the fields above
};

// Reads the fields of a completion or a chunk other than its text.
void take_extras(Json& completion, DocumentAnswer& answer);

// upstream_failed: not a completion.
Result<DocumentAnswer> read_document_answer(std::string_view completion);

// {answer, chunks, metadata, ...}
Json answer_json(DocumentAnswer answer);

// Receives the engine's answer, whole or in pieces. Pieces are passed on as events {"delta": ...}; the last
// event is sent after the turn is stored. The reply must outlive it.
class ChatSink final : public engine::AnswerSink {
 public:
  ChatSink(ClientReply& reply, bool streams) : reply_(reply), streams_(streams) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override;
  Awaitable<Result<void>> body(std::string_view bytes) override;

  // Returns the complete answer, or the reason why there is none.
  Result<DocumentAnswer> take();
  // The status if `take` failed.
  int status() const { return head_.status >= 400 ? head_.status : 502; }
  // Sends one object, or the last event.
  Awaitable<void> finish(int status, Json json);

 private:
  void take_event(std::string_view data, std::string& out);

  ClientReply& reply_;
  bool streams_;
  engine::AnswerHead head_;
  bool events_ = false;  // the answer is a stream of events
  std::string held_;     // the start of an event, or the whole body
  std::string problem_;  // that ended a stream
  DocumentAnswer answer_;
};

}  // namespace plimsoll::gateway
