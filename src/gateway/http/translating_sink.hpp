// Takes the engine's answer and gives it to a client of another API.
#pragma once

#include "engine/answer.hpp"
#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

// Makes of a chat's answer what another API would have said.
class AnswerTranslator {
 public:
  AnswerTranslator() = default;
  AnswerTranslator(const AnswerTranslator&) = delete;
  AnswerTranslator& operator=(const AnswerTranslator&) = delete;
  virtual ~AnswerTranslator() = default;

  virtual std::string_view stream_type() const = 0;  // the media type of a stream
  virtual void begin(const engine::AnswerHead&) {}
  // The data of one event of the chat; what becomes of it is added to `out`.
  virtual void take(std::string_view data, std::string& out) = 0;
  virtual void finish(std::string& out) = 0;  // the end of the stream
  // A whole completion; as a stream where the client wants one. upstream_failed: it is none.
  virtual Result<std::string> whole(std::string_view completion, bool streams) = 0;
  // The body of an error of OpenAI's form.
  virtual std::string error(std::string body) const = 0;
  // Whether its end is kept somewhere first, which takes a worker.
  virtual bool is_kept() const { return false; }
};

// All that it is given outlives it.
class TranslatingSink final : public engine::AnswerSink {
 public:
  struct Manner {
    bool streams = true;                // what the client wants
    std::size_t at_once_bytes = 32768;  // longer answers are translated by a worker
    std::size_t most_bytes = std::size_t{64}
                             << 20;  // a stream beyond it ends with an error: it is held to its end
  };
  TranslatingSink(engine::WorkerContext& thread, ClientReply& reply, AnswerTranslator& answer, Manner manner)
      : thread_(thread), reply_(reply), answer_(answer), manner_(manner) {}

  Awaitable<Result<void>> head(const engine::AnswerHead& head) override;
  Awaitable<Result<void>> body(std::string_view bytes) override;
  // When the engine has said all of it.
  Awaitable<Result<void>> finish();

 private:
  Awaitable<Result<void>> send_whole(std::string body, std::string type);
  Awaitable<void> work(bool at_once, std::function<void()> what);

  engine::WorkerContext& thread_;
  ClientReply& reply_;
  AnswerTranslator& answer_;
  Manner manner_;
  engine::AnswerHead head_;
  bool has_head_ = false;
  bool events_ = false;    // it comes as server-sent events
  std::size_t taken_ = 0;  // bytes
  std::string held_;       // the beginning of an event; else the whole body
};

// Asks the engine, and gives the client what becomes of its answer. An error only where nothing went to the
// client yet. All that it is given outlives it.
Awaitable<Result<void>> answer_translated(engine::Engine& engine, engine::WorkerContext& thread,
                                          engine::Ask ask, ClientReply& reply, AnswerTranslator& answer,
                                          bool streams, Deadline deadline, std::string& trace_id);

}  // namespace plimsoll::gateway
