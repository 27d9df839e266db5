// Knows from the error of a server that the request did not fit its window, whichever server it is, and what
// it says of the sizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll::window {

struct Overflow {
  std::optional<Tokens> window{};  // that the server has
  std::optional<Tokens> wanted{};  // by the request: its input, with the answer where that is counted too
  std::string said;                // the server's words, shortened
  // What it was known by, in small letters: "maximum context length", "context length is 4096".
  std::vector<std::string> words{};
};

// The body of a reply of status 400 and up; or, with status 200, the JSON of one event of a stream, where
// only what stands in an `error` counts. Nothing for any other error: limits of rate, wrong arguments,
// failures.
std::optional<Overflow> read_overflow(int status, std::string_view body);

}  // namespace plimsoll::window
