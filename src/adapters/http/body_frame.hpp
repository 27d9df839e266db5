// Where the body of a reply begins and ends among the bytes of a connection (RFC 9112, section 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plimsoll::adapters {

class BodyFrame {
 public:
  static BodyFrame none() { return BodyFrame(State::end, 0); }
  static BodyFrame sized(std::uint64_t bytes) {
    return BodyFrame(bytes == 0 ? State::end : State::sized, bytes);
  }
  static BodyFrame chunked() { return BodyFrame(State::size_begin, 0); }
  static BodyFrame until_close() { return BodyFrame(State::open, 0); }

  // What was made of some bytes that arrived: `body` of the body's now stand together at their front, and
  // `used` were used. All are used unless the body has ended, or is broken.
  struct Taken {
    std::size_t body = 0;
    std::size_t used = 0;
  };
  Taken take(std::span<char> arrived);

  bool has_ended() const { return state_ == State::end; }
  bool is_broken() const { return state_ == State::broken; }
  // The connection was closed by the other side.
  bool may_end_by_close() const { return state_ == State::open || state_ == State::end; }

 private:
  enum class State : std::uint8_t {
    sized,
    open,  // until the connection closes
    size_begin,
    size,
    extension,
    size_end,  // after the CR
    data,
    data_cr,
    data_end,
    trailer_begin,
    trailer,
    trailer_end,
    last_end,  // after the CR of the empty line
    end,
    broken,
  };
  BodyFrame(State state, std::uint64_t left) : state_(state), left_(left) {}
  State step(char c);
  void add_digit(int digit);

  State state_;
  std::uint64_t left_;      // of the body, or of its chunk
  std::size_t beside_ = 0;  // bytes since the last chunk that are none of the body
};

}  // namespace plimsoll::adapters
