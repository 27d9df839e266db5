// Vectors in the store's format: sentences with eight bits, chunks with sixteen.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::ingest {

// A unit vector with eight bits per dimension: its largest value becomes 127.
struct PackedSentence {
  float scale = 0;
  std::vector<std::int8_t> values;
};
PackedSentence pack(std::span<const float> vector);

// Returns the vectors of a chunk for the store. The chunk's vector is the token-weighted mean of its
// sentences, normalised: it finds more than a vector of the chunk's whole text, and no token is
// embedded twice.
ChunkVectors chunk_vectors(const Chunk& chunk, std::span<const PackedSentence* const> sentences,
                           std::size_t dimensions);

}  // namespace plimsoll::ingest
