// A client's text as a document.
#pragma once

#include "engine/collection.hpp"
#include "ingest/read.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::engine {

// Read and cut. unsupported: code without a language, or in one that is not known.
Result<Document> make_given(const GivenDocument& given, const Tokenizer& tokenizer, Tokens chunk_tokens,
                            const ingest::ReadOptions& options);

}  // namespace plimsoll::engine
