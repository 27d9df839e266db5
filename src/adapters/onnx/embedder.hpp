// A sentence-embedding model in this process, run by ONNX Runtime.
//
// The runtime is a shared library that set-up brought; it is loaded when an embedder is made, so that the
// program starts without it and says clearly when it is missing.
#pragma once

#include <filesystem>
#include <memory>

#include "plimsoll/count.hpp"
#include "plimsoll/embedder.hpp"

namespace plimsoll::onnx {

struct Options {
  std::filesystem::path library;  // libonnxruntime.so
  std::filesystem::path model;  // model.onnx: input_ids, attention_mask[, token_type_ids] -> states by token
  Tokenizer tokenizer;          // the model's own; it must know [CLS] and [SEP]
  EmbedderInfo info;
  unsigned threads = 0;  // that one call spreads its texts over; 0: as many as there are cores
};

// Vectors are the mean of a text's token states, made unit length. not_found: library or model is missing;
// unsupported: they do not go together.
Result<std::unique_ptr<Embedder>> make_embedder(Options options);

}  // namespace plimsoll::onnx
