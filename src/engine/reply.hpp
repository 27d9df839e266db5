// What an upstream's reply says of itself, read from its JSON or its stream.
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

// Of a chat completion, a chunk of one, or an error; whatever it lacks is left out.
ReplyFacts read_reply(std::string_view json);

// `text` is a JSON object: the same with more fields at its end. Anything else stays as it is.
std::string with_fields(std::string_view text, std::string_view fields);

// Takes a stream of server-sent events apart into whole events, and gives back what may go on. Whole events
// go on at once; the beginning of one waits for its end. No copy is made of bytes that end where an event
// does and that nothing is to be changed in.
class EventRelay {
 public:
  struct Wishes {
    bool annotated = false;    // fields are added to the last chunk
    bool hides_usage = false;  // the chunk that holds nothing but usage stays here
    bool told_late = false;    // where not annotated, a last chunk is added if there are fields after all
  };
  explicit EventRelay(Wishes wishes) : wishes_(wishes) {}

  using Fields = std::function<std::string()>;
  // What goes on, valid until the next call. `fields` is asked when the last chunk is there.
  std::string_view pass(std::string_view bytes, const Fields& fields);
  // At the end of the stream: what still waits.
  std::string_view finish(const Fields& fields);

  const ReplyFacts& facts() const { return facts_; }
  bool is_done() const { return done_; }  // [DONE] was there
  // Chunks of an answer that were there: about as many as its tokens.
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
  bool said_ = false;   // the fields went out
  bool added_ = false;  // a chunk that did not come from the server
  std::string rest_;    // of an event that has not ended
  std::string held_;    // the chunk that may be the last
  std::string out_;
};

// Where the first whole event of the bytes ends; 0: it has not. Before `from` it is known not to end.
std::size_t first_event_end(std::string_view bytes, std::size_t from = 0);
// The data of an event: what stands behind "data: ", without the line end; empty for a comment.
std::string_view data_of(std::string_view event);

}  // namespace plimsoll::engine
