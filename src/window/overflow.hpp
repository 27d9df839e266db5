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

// `body`: of a reply of status 400 and up; or, with status 200, the JSON of one event of a stream, where
// only an `error` counts. None for any other error: rate limits, wrong arguments,
// failures.
std::optional<Overflow> read_overflow(int status, std::string_view body);

}  // namespace plimsoll::window
