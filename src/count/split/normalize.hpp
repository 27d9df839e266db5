// Normalises a text before it is split.
#pragma once

#include <string>
#include <string_view>

#include "count/vocabulary/definition.hpp"

namespace plimsoll::count {

// Returns the normalised text: the text itself if nothing changes, which is checked quickly, else in
// `storage`.
std::string_view normalize(const Normalizer& normalizer, std::string_view text, Place place,
                           std::string& storage);

// Returns whether this normalizer never changes a text.
bool is_identity(const Normalizer& normalizer);

// Returns whether the first character of a text does not combine with text before it.
bool stands_apart(const Normalizer& normalizer, std::string_view text);

// Returns the last position where an open text can be divided and normalised separately, or 0.
std::size_t normalization_border(const Normalizer& normalizer, std::string_view text);

}  // namespace plimsoll::count
