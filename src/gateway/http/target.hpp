// The target in a request line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

struct Target {
  std::string path;      // decoded; invalid encodings are kept
  std::string raw_path;  // as received: a name may contain a slash as %2F
  std::string query;     // as received, without the question mark
};

// Also accepts the absolute form, which clients send to proxies.
Target split_target(std::string_view target);

// Matches a raw path against a pattern such as "/indexes/{name}/documents". Returns the decoded name, or ""
// if the pattern has none. A name is never empty.
std::optional<std::string> name_in_path(std::string_view pattern, std::string_view raw_path);

std::string percent_decoded(std::string_view text);

// Returns the last value of a name in a query, decoded; none: missing.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

// Reads a whole number from a query; `usual` if it is missing. bad_input: not a number, or out of bounds.
Result<std::int64_t> whole_in(std::string_view query, std::string_view name, std::int64_t usual,
                              std::int64_t least, std::int64_t most);

}  // namespace plimsoll::gateway
