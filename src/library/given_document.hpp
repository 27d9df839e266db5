// A client's text as a document.
#pragma once

#include "ingest/read/read.hpp"
#include "library/collections.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::library {

// Read and cut. unsupported: code without a language, or in one that is not known.
Result<Document> make_given(const GivenDocument& given, const Tokenizer& tokenizer, Tokens chunk_tokens,
                            const ingest::ReadOptions& options);

}  // namespace plimsoll::library
