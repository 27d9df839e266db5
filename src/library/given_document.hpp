// Makes a document of a client's text.
#pragma once

#include "ingest/read/read.hpp"
#include "library/collections.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::library {

// Reads and chunks a text. unsupported: code without a language, or in an unknown one.
Result<Document> make_given(const GivenDocument& given, const Tokenizer& tokenizer, Tokens chunk_tokens,
                            const ingest::ReadOptions& options);

}  // namespace plimsoll::library
