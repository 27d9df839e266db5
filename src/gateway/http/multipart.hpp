// A form as browsers and curl upload it: multipart/form-data (RFC 7578), taken apart. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

struct FormPart {
  std::string name;                     // of the field
  std::optional<std::string> filename;  // as it was sent, decoded; none: it is no file
  std::string content_type;             // or empty
  std::string_view body;                // of the bytes that were taken apart
};

struct FormLimits {
  std::size_t parts = 1'000;
  std::size_t header_bytes = std::size_t{8} << 10;  // of one part
};

bool is_multipart(std::string_view content_type);

// bad_input names what is wrong: no boundary, no end, a part without a name, more than the limits allow.
Result<std::vector<FormPart>> read_multipart(std::string_view content_type, std::string_view body,
                                             const FormLimits& limits = {});

// A parameter of a header's value, as `name` in `form-data; name="x"`; quotes and their escapes are taken
// off. None: it is not there. Names are compared without regard to case.
std::optional<std::string> header_parameter(std::string_view value, std::string_view name);

}  // namespace plimsoll::gateway
