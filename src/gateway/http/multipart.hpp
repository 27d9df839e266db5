// Parses forms with uploaded files: multipart/form-data (RFC 7578). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

struct FormPart {
  std::string name;                     // of the field
  std::optional<std::string> filename;  // as sent, decoded; none: not a file
  std::string content_type;             // or empty
  std::string_view body;                // points into the parsed bytes
};

struct FormLimits {
  std::size_t parts = 1'000;
  std::size_t header_bytes = std::size_t{8} << 10;  // of one part
};

bool is_multipart(std::string_view content_type);

// bad_input: no boundary, no end, a part without a name, or above the limits.
Result<std::vector<FormPart>> read_multipart(std::string_view content_type, std::string_view body,
                                             const FormLimits& limits = {});

// Returns a parameter of a header's value, such as `name` in `form-data; name="x"`, without quotes and
// escapes. None: missing. Names are compared ignoring case.
std::optional<std::string> header_parameter(std::string_view value, std::string_view name);

}  // namespace plimsoll::gateway
