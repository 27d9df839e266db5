// Files that are text, but that nobody wrote to be read: drawings, packed data, what programs made. In an
// index they drown the documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/read/decode.hpp"
#include "ingest/read/media_type.hpp"

namespace plimsoll::ingest {

// Takes long runs of base64 out of a text, such as pictures inside a notebook or a page. The places in the
// file of what stays are kept.
void remove_base64(Decoded& decoded);

// Why the file is not worth indexing: "an SVG image", "minified code". `source_bytes`: of the file, before
// base64 was removed.
std::optional<std::string> derived_kind(std::string_view text, std::size_t source_bytes,
                                        const MediaType& type, std::string_view name);

// What a file that was skipped is counted as in a summary: "binary: a PNG image" -> "PNG image".
std::string skipped_kind(std::string_view reason);

}  // namespace plimsoll::ingest
