// Vectors as the store keeps them: sentences in eight bits, chunks in sixteen.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

// A unit vector in eight bits a dimension: its largest value becomes 127.
struct PackedSentence {
  float scale = 0;
  std::vector<std::int8_t> values;
};
PackedSentence pack(std::span<const float> vector);

// What the store keeps of a chunk. The chunk's own vector is the mean of its sentences', each as heavy as it
// has tokens, made unit length: it finds more than the vector of the chunk's text as a whole, and no token is
// embedded twice.
ChunkVectors chunk_vectors(const Chunk& chunk, std::span<const PackedSentence* const> sentences,
                           std::size_t dimensions);

}  // namespace plimsoll::ingest
