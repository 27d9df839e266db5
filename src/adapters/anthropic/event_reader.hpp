// Server-sent events out of bytes as they arrive.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::anthropic {

constexpr std::size_t longest_event = 32'000'000;

class EventReader {
 public:
  // upstream_failed: an event is longer than any answer.
  Result<void> add(std::string_view bytes);
  // The data of the next complete event that has any; its name and comments are not read.
  std::optional<std::string> next();
  // The data of an event that the end of the body left without its empty line.
  std::optional<std::string> last();

 private:
  std::optional<std::string> take_line(std::string_view line);

  std::string bytes_;
  std::size_t begin_ = 0;   // of the line that is not read yet
  std::size_t looked_ = 0;  // no line ends between begin_ and here
  std::string data_;        // of the event that is not complete yet
  bool has_data_ = false;
};

}  // namespace plimsoll::anthropic
