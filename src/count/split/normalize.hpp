// What a definition does to a text before cutting it.
#pragma once

#include <string>
#include <string_view>

#include "count/vocabulary/definition.hpp"

namespace plimsoll::count {

// The text as it will be cut: itself where nothing changes, which is found out quickly, else in
// `storage`.
std::string_view normalize(const Normalizer& normalizer, std::string_view text, Place place,
                           std::string& storage);

// Whether no rule of this normalizer can change any text.
bool is_identity(const Normalizer& normalizer);

// Whether nothing joins or reorders the first character of a text with what stands before it.
bool stands_apart(const Normalizer& normalizer, std::string_view text);

// Where an open text can be cut so that both parts normalise apart: the largest such place, or 0.
std::size_t normalization_border(const Normalizer& normalizer, std::string_view text);

}  // namespace plimsoll::count
