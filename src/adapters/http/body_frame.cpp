#include "adapters/http/body_frame.hpp"

#include <algorithm>
#include <cstring>

#include "base/text/text.hpp"

namespace plimsoll::adapters {
namespace {

// Sizes, extensions and trailers: nobody sends more, unless to keep us reading.
constexpr std::size_t most_beside = 16'384;
constexpr std::uint64_t most_of_a_chunk = std::uint64_t{1} << 56;

using base::hex_digit;

}  // namespace

BodyFrame::Taken BodyFrame::take(std::span<char> arrived) {
  Taken taken;
  while (taken.used < arrived.size() && state_ != State::end && state_ != State::broken) {
    if (state_ != State::sized && state_ != State::open && state_ != State::data) {
      state_ = ++beside_ > most_beside ? State::broken : step(arrived[taken.used]);
      ++taken.used;
      continue;
    }
    std::size_t size = arrived.size() - taken.used;
    if (state_ != State::open) {
      size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
      left_ -= size;
    }
    if (taken.body != taken.used)
      std::memmove(arrived.data() + taken.body, arrived.data() + taken.used, size);
    taken.body += size;
    taken.used += size;
    if (left_ == 0 && state_ == State::sized) state_ = State::end;
    if (left_ == 0 && state_ == State::data) {
      state_ = State::data_cr;
      beside_ = 0;
    }
  }
  return taken;
}

BodyFrame::State BodyFrame::step(char c) {
  switch (state_) {
    case State::size_begin:
      left_ = 0;
      if (hex_digit(c) < 0) return State::broken;
      add_digit(hex_digit(c));
      return State::size;
    case State::size:
      if (c == '\r') return State::size_end;
      if (c == ';' || c == ' ' || c == '\t') return State::extension;
      if (hex_digit(c) < 0 || left_ > most_of_a_chunk) return State::broken;
      add_digit(hex_digit(c));
      return State::size;
    case State::extension:
      if (c == '\n') return State::broken;
      return c == '\r' ? State::size_end : State::extension;
    case State::size_end:
      if (c != '\n') return State::broken;
      return left_ == 0 ? State::trailer_begin : State::data;
    case State::data_cr: return c == '\r' ? State::data_end : State::broken;
    case State::data_end: return c == '\n' ? State::size_begin : State::broken;
    case State::trailer_begin:
      if (c == '\n') return State::broken;
      return c == '\r' ? State::last_end : State::trailer;
    case State::trailer:
      if (c == '\n') return State::broken;
      return c == '\r' ? State::trailer_end : State::trailer;
    case State::trailer_end: return c == '\n' ? State::trailer_begin : State::broken;
    case State::last_end: return c == '\n' ? State::end : State::broken;
    case State::sized:
    case State::open:
    case State::data:
    case State::end:
    case State::broken: break;
  }
  return State::broken;
}

void BodyFrame::add_digit(int digit) {
  left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
}

}  // namespace plimsoll::adapters
