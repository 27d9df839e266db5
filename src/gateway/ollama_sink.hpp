// Takes the engine's answer and gives it to a client of Ollama's.
#pragma once

#include "engine/answer.hpp"
#include "gateway/http_server.hpp"
#include "gateway/ollama_answer.hpp"

namespace plimsoll::gateway {

// All that it is given outlives it.
class OllamaSink final : public engine::AnswerSink {
 public:
  struct Manner {
    bool streams = true;                // what the client wants
    std::optional<Tokens> num_ctx{};    // what it wishes for
    std::size_t at_once_bytes = 32768;  // longer answers are translated by a worker
  };
  OllamaSink(engine::Crew& crew, ClientReply& reply, OllamaAnswer& answer, Manner manner)
      : crew_(crew), reply_(reply), answer_(answer), manner_(manner) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override;
  Awaitable<Result<void>> body(std::string_view bytes) override;
  // When the engine has said all of it.
  Awaitable<Result<void>> finish();

 private:
  Awaitable<Result<void>> send_whole(std::string body, const std::string& type);

  engine::Crew& crew_;
  ClientReply& reply_;
  OllamaAnswer& answer_;
  Manner manner_;
  engine::AnswerHead head_;
  bool has_head_ = false;
  bool events_ = false;  // it comes as server-sent events
  std::string held_;     // the beginning of an event; else the whole body
};

// Keeps a reply, for somebody who makes another of it.
class HeldReply final : public ClientReply {
 public:
  Awaitable<Result<void>> head(const engine::AnswerHead& head) override {
    said = head;
    begun_ = true;
    co_return Result<void>();
  }
  Awaitable<Result<void>> body(std::string_view bytes) override {
    text += bytes;
    co_return Result<void>();
  }
  bool is_begun() const override { return begun_; }

  engine::AnswerHead said;
  std::string text;

 private:
  bool begun_ = false;
};

}  // namespace plimsoll::gateway
