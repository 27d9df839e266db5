// Detects in an error of any server that the request did not fit its window, and reads the
// sizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll::window {

struct Overflow {
  std::optional<Tokens> window{};  // of the server
  std::optional<Tokens> wanted{};  // size of the request: its input, with the answer if that is counted too
  std::string said;                // the server's message, shortened
  // The matching phrases, in lower case: "maximum context length", "context length is 4096".
  std::vector<std::string> words{};
};

// Reads the body of an error. None for any other one: rate limits, wrong arguments, failures.
std::optional<Overflow> read_overflow(std::string_view body);
// The same for the JSON of one event of a stream, where only an `error` counts.
std::optional<Overflow> read_overflow_event(std::string_view json);

}  // namespace plimsoll::window
