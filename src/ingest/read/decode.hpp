// Converts bytes to well-formed UTF-8: byte order marks, UTF-16, Windows-1252 and invalid text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct Decoded {
  std::string_view text;  // points into the given bytes or into `made`
  std::string made;
  std::vector<Origin> origins;  // empty: the text is the bytes
  bool addressable = true;
  std::string warning;  // or empty

  Decoded() = default;
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;
};

// unsupported: the bytes are not text.
Result<void> decode(std::string_view bytes, Decoded& into);

// Replaces each invalid byte by U+FFFD.
std::string with_replacements(std::string_view bytes);

// Composes two mappings: of a text to a second text, and of that to a file. An empty `outer`
// or `inner` is the identity.
std::vector<Origin> compose(std::vector<Origin> outer, const std::vector<Origin>& inner);

}  // namespace plimsoll::ingest
