// Base of the translators to server-sent events: handles the end of a chat's answer, errors, and answers
// in one piece.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gateway/http/translating_sink.hpp"

namespace plimsoll::gateway {

class EventAnswer : public AnswerTranslator {
 public:
  std::string_view stream_type() const final { return "text/event-stream; charset=utf-8"; }
  void take(std::string_view data, std::string& out) final;
  void finish(bool complete, std::string& out) final;
  void break_off(std::string what, std::string& out) final;
  Result<std::string> whole(std::string_view completion, bool streams) final;

 protected:
  using Json = nlohmann::ordered_json;

  // Handles an event of the chat, or a whole answer, which has `message` instead of `delta`.
  virtual void take_chunk(const Json& chunk, std::string& out) = 0;
  virtual void end(std::string& out) = 0;
  virtual void fail_with(std::string message, std::string& out) = 0;
  virtual std::string as_one() const = 0;  // the complete answer as one object

  std::string reason_;   // finish_reason of the chat
  bool silent_ = false;  // no events are wanted

 private:
  bool ended_ = false;
};

}  // namespace plimsoll::gateway
