// What stands behind the method in a request's first line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::gateway {

struct Target {
  std::string path;      // decoded; what is badly encoded stays as it is
  std::string raw_path;  // as it came: where a name may hold a slash, as %2F
  std::string query;     // as it came, without the question mark
};

// Also of the absolute form, as a client sends it to a proxy.
Target split_target(std::string_view target);

// Whether a path, as it came, fits a pattern such as "/indexes/{name}/documents": then the name that stands
// there, decoded, or an empty text where the pattern has none. A name is never empty.
std::optional<std::string> name_in_path(std::string_view pattern, std::string_view raw_path);

std::string percent_decoded(std::string_view text);

// The last value of that name in a query, decoded; none: it is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace plimsoll::gateway
