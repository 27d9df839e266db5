#include "ingest/vectors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plimsoll::ingest {
namespace {

std::uint16_t bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >>
                                    16);  // to the nearest, ties to even
}

}  // namespace

PackedSentence pack(std::span<const float> vector) {
  float largest = 0;
  for (const float value : vector) largest = std::max(largest, std::abs(value));
  PackedSentence out{.scale = largest / 127, .values = std::vector<std::int8_t>(vector.size())};
  if (!(largest > 0) || !std::isfinite(largest)) return {.scale = 0, .values = std::move(out.values)};
  for (std::size_t d = 0; d < vector.size(); ++d)
    out.values[d] = static_cast<std::int8_t>(std::lround(vector[d] / out.scale));
  return out;
}

ChunkVectors chunk_vectors(const Chunk& chunk, std::span<const PackedSentence* const> sentences,
                           std::size_t dimensions) {
  ChunkVectors out;
  std::vector<float> sum(dimensions);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const PackedSentence& sentence = *sentences[i];
    out.scales.push_back(sentence.scale);
    out.sentences.insert(out.sentences.end(), sentence.values.begin(), sentence.values.end());
    const float weight = sentence.scale * static_cast<float>(chunk.sentences[i].tokens);
    for (std::size_t d = 0; d < dimensions; ++d) sum[d] += weight * static_cast<float>(sentence.values[d]);
  }
  float norm = 0;
  for (const float value : sum) norm += value * value;
  const float scale = norm > 0 ? 1 / std::sqrt(norm) : 0;
  for (const float value : sum) out.whole.push_back(bf16(value * scale));
  return out;
}

}  // namespace plimsoll::ingest
