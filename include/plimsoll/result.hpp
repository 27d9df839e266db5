// How every fallible call of Plimsoll answers: a value, or an error with a code to act on and a
// sentence to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace plimsoll {

// What went wrong, as far as a caller may want to act on it. The sentence is in Error::what.
enum class Errc : std::uint8_t {
  bad_input,        // the caller gave something malformed; asking again unchanged is useless
  not_found,        // a file, name or index that does not exist
  unknown_setting,  // a key that no setting has
  bad_setting,      // a setting's value is of the wrong type or out of range
  unknown_model,    // no tokenizer or window is known for the name
  over_budget,      // the load line would be broken
  unsupported,      // well-formed, but of a kind this build cannot handle
  damaged,          // a file of ours fails its checks; set-up can make it anew
  io_failed,        // the system refused to read or write
  timed_out,        // the deadline passed first
  unreachable,      // no connection to a server: name, address, certificate or proxy
  upstream_failed,  // a server was reached and did not answer as it should
};

struct Error {
  Errc code;
  std::string what;
};

template <typename T>
using Result = tl::expected<T, Error>;

// return fail(Errc::not_found, "no tokenizer is called '{}'", name);
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// The code's own name, as error bodies and logs show it: "bad_input".
std::string_view name_of(Errc code);

}  // namespace plimsoll
