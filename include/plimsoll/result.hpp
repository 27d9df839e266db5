// The result of every fallible call: a value, or an error with a code for the program and a
// sentence for the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace plimsoll {

// Kinds of errors that a caller may handle differently. The sentence is in Error::what.
enum class Errc : std::uint8_t {
  bad_input,        // malformed input; do not retry unchanged
  not_found,        // a file, name or index that does not exist
  unknown_setting,  // unknown key of a setting
  bad_setting,      // a setting's value is of the wrong type or out of range
  unknown_model,    // no tokenizer or window is known for this name
  over_budget,      // does not fit into the window
  unsupported,      // well-formed, but this build cannot handle it
  damaged,          // one of our files fails its checks; the set-up can recreate it
  io_failed,        // the system refused to read or write
  timed_out,        // the deadline passed first
  unreachable,      // no connection to a server: name, address, certificate or proxy
  upstream_failed,  // a server was reached but did not answer correctly
};

struct Error {
  Errc code;
  std::string what;
};

template <typename T>
using Result = tl::expected<T, Error>;

// return fail(Errc::not_found, "unknown tokenizer '{}'", name);
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// Returns the name of a code, as in error bodies and logs: "bad_input".
std::string_view name_of(Errc code);

}  // namespace plimsoll
