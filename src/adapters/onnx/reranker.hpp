// A cross-encoder in this process, run by ONNX Runtime: question and text are one input.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "plimsoll/count.hpp"
#include "plimsoll/embedder.hpp"

namespace plimsoll::onnx {

struct RerankerOptions {
  std::filesystem::path library;  // libonnxruntime.so
  std::filesystem::path model;  // model.onnx: input_ids, attention_mask, token_type_ids -> one logit per pair
  Tokenizer tokenizer;          // the model's own; it must know [CLS] and [SEP]
  std::string name;
  Tokens max_tokens = 256;  // of question and text together
  unsigned threads = 0;     // 0: as many as there are cores
};

// not_found: library or model is missing; unsupported: they do not go together.
Result<std::unique_ptr<Reranker>> make_reranker(RerankerOptions options);

}  // namespace plimsoll::onnx
