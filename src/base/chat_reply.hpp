// Reads replies of servers for every adapter: one JSON object, or server-sent events. Their form is that of
// OpenAI's APIs, unless another one is given.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/upstream.hpp"

namespace plimsoll::base {

// Reads a (chat) completion, a chunk of one, a response, or an error.
ReplyFacts read_facts(std::string_view json);

// Returns whether the data of an event is a whole JSON object. It may have characters that are not UTF-8.
bool is_whole_object(std::string_view data);

// Returns the message of an error in OpenAI's, FastAPI's or Ollama's format; else the text itself, shortened.
std::string said_in_error(std::string_view body);

// Returns the words of the first choice of a completion or of a chunk of one; empty: there are none.
std::string words_in(std::string_view json);

// Classifies a reply by its head.
ReplyInfo info_of(ReplyHead head);

// How to read the JSON of another API.
struct ReplyForm {
  std::function<void(AnswerEvent& event)> read_event{};  // fills in its facts, and whether it is the last
  std::function<ReplyFacts(std::string_view body)> read_body{};
};

// Splits a stream into events. Views are valid until the next call.
class EventSplitter {
 public:
  // `read_event`: none for OpenAI's form.
  explicit EventSplitter(std::function<void(AnswerEvent& event)> read_event = {})
      : read_event_(std::move(read_event)) {}

  // Returns the events that are complete with these bytes. They are not copied if no event was begun before.
  AnswerEvents add(std::string_view bytes);
  // Returns what is left at the end of the stream as one event.
  AnswerEvents rest();
  // Copies what is left of the bytes that were added last. Call before their memory is used again.
  void settle();
  std::size_t waiting() const {
    return begun_.size() - used_ + left_.size();
  }  // bytes of an incomplete event

 private:
  AnswerEvents split(std::string_view bytes, std::size_t looked);
  AnswerEvent event_of(std::string_view bytes) const;

  std::function<void(AnswerEvent& event)> read_event_;
  std::vector<AnswerEvent> events_;
  std::string begun_;  // begins with `used_` bytes that were handed out
  std::size_t used_ = 0;
  std::string_view left_;  // the end of bytes that were not copied
};

// `longest`: in bytes, of a body or of one event. `resources`: of the request.
std::unique_ptr<UpstreamReply> chat_reply(std::unique_ptr<HttpStream> stream, std::size_t longest,
                                          RequestResources* resources = nullptr);
// The same for a native reply.
std::unique_ptr<UpstreamReply> native_reply(std::unique_ptr<HttpStream> stream, std::size_t longest,
                                            ReplyForm form, RequestResources* resources = nullptr);

}  // namespace plimsoll::base
