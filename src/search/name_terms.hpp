// Names as terms of the inverted index. A name's term starts with a byte that no word has, so names are
// stored, merged, checked and written with the words, and no search for words finds them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/index.hpp"

namespace plimsoll::search {

std::string name_term(NameUse use, std::string_view key);

// Replaces the contents of `out` with the terms of a chunk; a name that occurs twice is there twice.
void name_terms_of(const StoredChunk& chunk, std::vector<std::string>& out);

}  // namespace plimsoll::search
