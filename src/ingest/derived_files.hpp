// Detects text files that are not meant to be read: drawings, packed data, generated files. In an
// index they would hide the documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/read/decode.hpp"
#include "ingest/read/media_type.hpp"

namespace plimsoll::ingest {

// Removes long runs of base64 from a text, such as pictures in a notebook or a page. Positions of the rest in
// the file are kept.
void remove_base64(Decoded& decoded);

// Returns why the file is not worth indexing: "an SVG image", "minified code". `source_bytes`: size of the
// file before base64 was removed.
std::optional<std::string> derived_kind(std::string_view text, std::size_t source_bytes,
                                        const MediaType& type, std::string_view name);

// Returns the kind of a skipped file for a summary: "binary: a PNG image" -> "PNG image".
std::string skipped_kind(std::string_view reason);

}  // namespace plimsoll::ingest
