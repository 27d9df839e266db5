// Reads the head of a reply, by Beast's parser, straight into the form that the port shows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "adapters/http/body_frame.hpp"
#include "plimsoll/http_stream.hpp"

namespace plimsoll::adapters {

struct ReadHead {
  ReplyHead head;
  BodyFrame body = BodyFrame::none();
  bool keep_alive = false;
};

enum class HeadState : std::uint8_t { more, whole, too_long, no_http };

// `arrived` is all that has come since the reply began, each time longer. `used` is set when the head is
// whole. Replies of status 1xx are used and passed over.
class HeadReader {
 public:
  // `to_head`: the request was a HEAD, whose reply has no body.
  HeadReader(std::size_t limit_bytes, bool to_head);
  HeadReader(const HeadReader&) = delete;
  HeadReader& operator=(const HeadReader&) = delete;
  ~HeadReader();

  HeadState read(std::span<const char> arrived, std::size_t& used);
  ReadHead take() { return std::move(read_); }

 private:
  class Parser;
  void begin();

  std::size_t limit_;
  bool to_head_;
  std::size_t begin_ = 0;  // of the head under way
  std::size_t passed_over_ = 0;
  ReadHead read_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace plimsoll::adapters
