// Bytes into well-formed UTF-8: byte order marks, UTF-16, Windows-1252, and what is none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct Decoded {
  std::string_view text;  // of the bytes given, or of `made`
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

// Each byte that belongs to no character becomes U+FFFD.
std::string with_replacements(std::string_view bytes);

// Origins of a text in a text, and of that in a file, into origins of the first in the file. An empty `outer`
// is the identity; an empty `inner` too.
std::vector<Origin> compose(std::vector<Origin> outer, const std::vector<Origin>& inner);

}  // namespace plimsoll::ingest
