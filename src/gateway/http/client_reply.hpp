// Writes a reply to a client: with a length if known, otherwise in chunks.
#pragma once

#include <string>

#include "gateway/error_json.hpp"
#include "gateway/http/client_line.hpp"
#include "gateway/http/server_thread.hpp"
#include "gateway/limits/memory_budget.hpp"

namespace plimsoll::gateway {

class SocketReply final : public ClientReply {
 public:
  struct Manner {
    bool keeps_open = true;
    bool is_head = false;   // a HEAD request: no body
    bool old_http = false;  // HTTP/1.0: no chunks
    ErrorForm errors = ErrorForm::openai;
  };
  // `memory`: from which long answers take what they hold until the client has read them; null: not counted.
  SocketReply(ClientLine& line, ServerThread& thread, std::chrono::milliseconds idle, Manner manner,
              HeldMemory* memory = nullptr)
      : line_(line), thread_(thread), idle_(idle), manner_(manner), memory_(memory) {}

  // Sent together with the first bytes of the body. io_failed: the answer is long and there is no memory for
  // it; the client was told to come back.
  Awaitable<Result<void>> head(const AnswerHead& head) override;
  Awaitable<Result<void>> body(std::string_view bytes) override;
  // Sends the rest: the head of an empty body, the last chunk.
  Awaitable<Result<void>> finish();

  bool is_begun() const override { return begun_; }
  // Returns whether another request may follow on this connection.
  bool keeps_open() const { return manner_.keeps_open && !failed_ && !line_.must_close(); }
  void close_after() { manner_.keeps_open = false; }

 private:
  Awaitable<Result<void>> write(std::string_view bytes, bool as_chunk);
  Awaitable<Result<void>> refuse_for_memory(std::size_t answer);

  ClientLine& line_;
  ServerThread& thread_;
  std::chrono::milliseconds idle_;
  Manner manner_;
  HeldMemory* memory_;
  std::string waiting_;  // the head, until the body starts
  bool begun_ = false;
  bool chunked_ = false;
  bool failed_ = false;
  std::size_t left_ = 0;  // of a body with a known length
};

}  // namespace plimsoll::gateway
