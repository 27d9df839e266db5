// What Anthropic's /v1/messages replies, in OpenAI's form. Pure: clock and ids come from outside.
//
// Thoughts become `reasoning_content`. What the server needs to get them back, their signatures and thoughts
// that it encrypted, is in `thinking_blocks`, as LiteLLM has it too: in a stream with an empty text, because
// the text went out as reasoning_content. The stop sequence that ended an answer is in `stop_reason` of the
// choice, as vLLM has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/chat_reply.hpp"
#include "base/translated_reply.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::anthropic {

using Identity = base::ChatIdentity;  // the server's own id takes the place of ours

// One streamed reply, event by event.
class EventWriter {
 public:
  explicit EventWriter(Identity identity) : identity_(std::move(identity)) {}

  // Adds what the event becomes to `events`. Usage is always reported, in the last chunk. upstream_failed: it
  // is not an event of Anthropic's.
  Result<void> take(std::string_view data, std::string& events);
  bool has_ended() const { return ended_; }

 private:
  using Json = nlohmann::ordered_json;
  struct Call {
    std::size_t number = 0;  // among the calls of this answer
    bool has_arguments = false;
  };

  void write_delta(Json delta, std::string& events);
  void begin_block(std::size_t index, const Json& block, std::string& events);
  void add_to_block(std::size_t index, const Json& delta, std::string& events);
  void end_block(std::size_t index, std::string& events);
  void add_arguments(Call& call, std::string text, std::string& events);
  void end(std::string& events);

  Identity identity_;
  bool begun_ = false;
  bool ended_ = false;
  std::map<std::size_t, Call> open_calls_;  // by the index of their blocks
  std::size_t calls_ = 0;
  std::string stop_reason_, stop_sequence_;
  Json usage_ = Json::object();  // the newest figures, as the server reports them
};

// The reply to a request without `stream`. An error in it becomes upstream_failed.
Result<std::string> to_completion(std::string_view reply, const Identity& identity);

// Reads replies that go to the client as they are.
base::ReplyForm native_form();

// The body of an error in OpenAI's form, with the message and type that the server gave.
std::string to_error(int status, std::string_view body);

}  // namespace plimsoll::anthropic
