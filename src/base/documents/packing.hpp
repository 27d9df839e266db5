// The parts of a document that every store keeps as bytes. Whole numbers as LEB128, floats and vectors as
// they lie in memory on a little-endian machine. Unpacking checks everything: damaged, never a wrong read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/store.hpp"

namespace plimsoll::base {

using Bytes = std::vector<std::byte>;

// Spans of sentences count from the start of the chunk.
Bytes pack_sentences(const Chunk& chunk);
Result<std::vector<Sentence>> unpack_sentences(std::span<const std::byte> bytes, Span chunk);

Bytes pack_sections(std::span<const DocumentSection> sections);
Result<std::vector<DocumentSection>> unpack_sections(std::span<const std::byte> bytes);

Bytes pack_origins(std::span<const Origin> origins);
Result<std::vector<Origin>> unpack_origins(std::span<const std::byte> bytes);

// What all embedders made of one chunk: `vectors` by embedder.
Bytes pack_vectors(std::span<const ChunkVectors* const> vectors);
// How many bytes that is.
std::size_t packed_vectors_size(std::span<const EmbedderInfo> embedders, std::size_t sentences);
// One of them; `whole` alone where only that is wanted.
Result<ChunkVectors> unpack_vectors(std::span<const std::byte> bytes, std::span<const EmbedderInfo> embedders,
                                    std::size_t embedder, std::size_t sentences, bool whole_only = false);

// The same in two parts, for stores that read the vectors of whole chunks alone: those, and those of
// sentences.
Bytes pack_whole(std::span<const ChunkVectors* const> vectors);
Bytes pack_sentence_vectors(std::span<const ChunkVectors* const> vectors);
// Both are by embedder.
Result<std::vector<std::vector<std::uint16_t>>> unpack_whole(std::span<const std::byte> bytes,
                                                             std::span<const EmbedderInfo> embedders);
Result<std::vector<ChunkVectors>> unpack_both(std::span<const std::byte> whole,
                                              std::span<const std::byte> sentence_vectors,
                                              std::span<const EmbedderInfo> embedders, std::size_t sentences);

}  // namespace plimsoll::base
