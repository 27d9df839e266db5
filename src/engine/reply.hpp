// Reads facts from an upstream's reply: usage, finish reason, errors.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "plimsoll/trace.hpp"

namespace plimsoll::engine {

struct ReplyFacts {
  Usage usage;
  std::string finish_reason;
  bool is_error = false;    // an object with `error`
  bool no_choices = false;  // its list of choices is empty
};

// Reads a chat completion, a chunk of one, or an error; missing fields stay empty.
ReplyFacts read_reply(std::string_view json);

// Adds fields at the end of a JSON object. Any other text is returned unchanged.
std::string with_fields(std::string_view text, std::string_view fields);

// Splits a stream of server-sent events into events and returns what can be passed on. Complete events are
// passed on at once; an incomplete one waits for its end. Bytes that end at an event's end and need no
// change are not copied.
class EventRelay {
 public:
  struct Wishes {
    bool annotated = false;    // add fields to the last chunk
    bool hides_usage = false;  // do not pass on the chunk that has only usage
    bool told_late = false;    // if not annotated, add a last chunk if there are fields after all
  };
  explicit EventRelay(Wishes wishes) : wishes_(wishes) {}

  using Fields = std::function<std::string()>;
  // Returns the bytes to pass on, valid until the next call. `fields` is called at the last chunk.
  std::string_view pass(std::string_view bytes, const Fields& fields);
  // Returns the waiting bytes at the end of the stream.
  std::string_view finish(const Fields& fields);

  const ReplyFacts& facts() const { return facts_; }
  bool is_done() const { return done_; }  // [DONE] was read
  // Returns the number of answer chunks read, which is close to the number of tokens.
  std::int64_t chunks() const { return chunks_; }
  std::size_t waiting() const { return rest_.size() + held_.size(); }

 private:
  void take_event(std::string_view event, const Fields& fields);
  void let_go(const Fields* fields);
  void tell_late(const std::string& fields);

  Wishes wishes_;
  ReplyFacts facts_;
  std::int64_t chunks_ = 0;
  bool done_ = false;
  bool said_ = false;   // the fields were sent
  bool added_ = false;  // a chunk of our own was sent
  std::string rest_;    // start of an incomplete event
  std::string held_;    // the chunk that may be the last
  std::string out_;
};

// Returns the end of the first event; 0: incomplete. The end is not before `from`.
std::size_t first_event_end(std::string_view bytes, std::size_t from = 0);
// Returns the data of an event: the text after "data: " without the newline; empty for a comment.
std::string_view data_of(std::string_view event);

}  // namespace plimsoll::engine
