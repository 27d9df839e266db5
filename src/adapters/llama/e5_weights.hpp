// Loads the weights of multilingual-e5-small into llama.cpp.
//
// The blocks of the file are those of llama.cpp's Q4_0, so the layers are copied as they are, into a GGUF
// that exists in memory only. The table of tokens, six sevenths of the file, stays in the mapped file:
// llama.cpp reserves room for a logit of every token that it knows for every token of a batch, and this model
// has none.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/mapped_file.hpp"
#include "base/weights/e5_file.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

struct llama_model;

namespace plimsoll::llama {

struct FreeModel {
  void operator()(llama_model* model) const;
};
using ModelPointer = std::unique_ptr<llama_model, FreeModel>;

class E5Weights {
 public:
  // llama.cpp must be started. not_found: no such file; unsupported: it is not this model.
  static Result<E5Weights> load(const std::filesystem::path& file);

  llama_model* model() const { return model_.get(); }
  const base::E5Shape& shape() const { return shape_; }
  // Writes the numbers that a token has in the table. The token must be one of the vocabulary.
  void look_up(TokenId token, std::span<float> state) const;

 private:
  E5Weights(base::MappedFile file, base::E5Shape shape, std::string_view table, ModelPointer model)
      : file_(std::move(file)), shape_(shape), table_(table), model_(std::move(model)) {}

  base::MappedFile file_;
  base::E5Shape shape_;
  std::string_view table_;  // blocks of the table of tokens
  ModelPointer model_;
};

}  // namespace plimsoll::llama
