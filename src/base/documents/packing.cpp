#include "base/documents/packing.hpp"

#include <bit>
#include <cstring>

#include "base/try.hpp"

namespace plimsoll::base {
namespace {

static_assert(std::endian::native == std::endian::little, "vectors are kept as they lie in memory");

void append(Bytes& out, std::uint64_t number) {
  while (number >= 0x80) {
    out.push_back(static_cast<std::byte>(number | 0x80));
    number >>= 7;
  }
  out.push_back(static_cast<std::byte>(number));
}

template <typename T>
void append_raw(Bytes& out, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(Errc::damaged, "the store's {} cannot be read; `plimsoll index verify` names the document",
              what);
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  Result<std::uint64_t> number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) return damaged(what_);
      const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return damaged(what_);
  }

  Result<std::string> text() {
    TRY(auto size, number());
    if (size > bytes_.size() - at_) return damaged(what_);
    std::string out(reinterpret_cast<const char*>(bytes_.data() + at_), size);
    at_ += size;
    return out;
  }

  // How many follow; each takes at least a byte, so that a wild number reserves no memory.
  Result<std::uint64_t> size() {
    TRY(auto count, number());
    if (count > bytes_.size() - at_) return damaged(what_);
    return count;
  }

  Result<void> end() const {
    if (at_ != bytes_.size()) return damaged(what_);
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::string_view what_;
};

// The upper half of a sentence's tokens has the pages since the sentence before. Stores of older versions
// have 0 there, and older versions ignore it.
constexpr unsigned pages_shift = 32;

template <typename T>
std::vector<T> copied(std::span<const std::byte> bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

}  // namespace

Bytes pack_sentences(const Chunk& chunk) {
  Bytes out;
  append(out, chunk.sentences.size());
  std::uint64_t at = chunk.span.start;
  std::uint32_t pages_on = 0;
  for (const Sentence& sentence : chunk.sentences) {
    append(out, ((sentence.span.start - at) << 1) | (sentence.opens_block ? 1 : 0));
    append(out, sentence.span.size());
    const std::uint64_t pages = sentence.pages_on - pages_on;
    append(out, pages << pages_shift | static_cast<std::uint64_t>(sentence.tokens));
    at = sentence.span.end;
    pages_on = sentence.pages_on;
  }
  return out;
}

Result<std::vector<Sentence>> unpack_sentences(std::span<const std::byte> bytes, Span chunk) {
  Reader reader(bytes, "sentences");
  TRY(auto count, reader.size());
  std::vector<Sentence> out;
  out.reserve(count);
  std::uint64_t at = chunk.start;
  std::uint32_t pages_on = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY(auto gap, reader.number());
    TRY(auto size, reader.number());
    TRY(auto tokens, reader.number());
    if ((gap >> 1) > chunk.end - at || size > chunk.end - at - (gap >> 1)) return damaged("sentences");
    const std::uint64_t start = at + (gap >> 1);
    at = start + size;
    pages_on += static_cast<std::uint32_t>(tokens >> pages_shift);
    out.push_back({.span = {start, at},
                   .tokens = static_cast<Tokens>(tokens & 0x7fffffff),
                   .opens_block = (gap & 1) != 0,
                   .pages_on = pages_on});
  }
  TRY_VOID(reader.end());
  return out;
}

Bytes pack_sections(std::span<const DocumentSection> sections) {
  Bytes out;
  append(out, sections.size());
  for (const DocumentSection& section : sections) {
    append(out, section.title.size());
    const auto title = std::as_bytes(std::span(section.title));
    out.insert(out.end(), title.begin(), title.end());
    append(out, section.parent);
    append(out, section.span.start);
    append(out, section.span.size());
  }
  return out;
}

Result<std::vector<DocumentSection>> unpack_sections(std::span<const std::byte> bytes) {
  Reader reader(bytes, "sections");
  TRY(auto count, reader.size());
  std::vector<DocumentSection> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY(auto title, reader.text());
    TRY(auto parent, reader.number());
    TRY(auto start, reader.number());
    TRY(auto size, reader.number());
    if (parent > i || start + size < start) return damaged("sections");
    out.push_back({std::move(title), static_cast<std::uint32_t>(parent), {start, start + size}});
  }
  TRY_VOID(reader.end());
  return out;
}

Bytes pack_origins(std::span<const Origin> origins) {
  Bytes out;
  append(out, origins.size());
  for (const Origin& origin : origins) {
    append(out, origin.text);
    append(out, origin.source);
    append(out, origin.bytes);
  }
  return out;
}

Result<std::vector<Origin>> unpack_origins(std::span<const std::byte> bytes) {
  Reader reader(bytes, "map to the file");
  TRY(auto count, reader.size());
  std::vector<Origin> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY(auto text, reader.number());
    TRY(auto source, reader.number());
    TRY(auto size, reader.number());
    out.push_back({text, source, size});
  }
  TRY_VOID(reader.end());
  return out;
}

Bytes pack_vectors(std::span<const ChunkVectors* const> vectors) {
  Bytes out;
  for (const ChunkVectors* each : vectors) {
    append_raw(out, each->whole);
    append_raw(out, each->scales);
    append_raw(out, each->sentences);
  }
  return out;
}

std::size_t packed_vectors_size(std::span<const EmbedderInfo> embedders, std::size_t sentences) {
  std::size_t size = 0;
  for (const EmbedderInfo& embedder : embedders)
    size += embedder.dimensions * (2 + sentences) + sentences * 4;
  return size;
}

Result<ChunkVectors> unpack_vectors(std::span<const std::byte> bytes, std::span<const EmbedderInfo> embedders,
                                    std::size_t embedder, std::size_t sentences, bool whole_only) {
  if (embedder >= embedders.size() || bytes.size() != packed_vectors_size(embedders, sentences))
    return damaged("vectors");
  const std::size_t dimensions = embedders[embedder].dimensions;
  auto rest = bytes.subspan(packed_vectors_size(embedders.first(embedder), sentences));
  ChunkVectors out;
  out.whole = copied<std::uint16_t>(rest.first(dimensions * 2));
  if (whole_only) return out;
  rest = rest.subspan(dimensions * 2);
  out.scales = copied<float>(rest.first(sentences * 4));
  out.sentences = copied<std::int8_t>(rest.subspan(sentences * 4, sentences * dimensions));
  return out;
}

Bytes pack_whole(std::span<const ChunkVectors* const> vectors) {
  Bytes out;
  for (const ChunkVectors* each : vectors) append_raw(out, each->whole);
  return out;
}

Bytes pack_sentence_vectors(std::span<const ChunkVectors* const> vectors) {
  Bytes out;
  for (const ChunkVectors* each : vectors) {
    append_raw(out, each->scales);
    append_raw(out, each->sentences);
  }
  return out;
}

Result<std::vector<std::vector<std::uint16_t>>> unpack_whole(std::span<const std::byte> bytes,
                                                             std::span<const EmbedderInfo> embedders) {
  if (bytes.size() != packed_vectors_size(embedders, 0)) return damaged("vectors");
  std::vector<std::vector<std::uint16_t>> out;
  for (const EmbedderInfo& embedder : embedders) {
    out.push_back(copied<std::uint16_t>(bytes.first(embedder.dimensions * 2)));
    bytes = bytes.subspan(embedder.dimensions * 2);
  }
  return out;
}

Result<std::vector<ChunkVectors>> unpack_both(std::span<const std::byte> whole,
                                              std::span<const std::byte> sentence_vectors,
                                              std::span<const EmbedderInfo> embedders,
                                              std::size_t sentences) {
  TRY(auto wholes, unpack_whole(whole, embedders));
  const std::size_t expected = packed_vectors_size(embedders, sentences) - packed_vectors_size(embedders, 0);
  if (sentence_vectors.size() != expected) return damaged("vectors");
  std::vector<ChunkVectors> out;
  for (std::size_t e = 0; e < embedders.size(); ++e) {
    ChunkVectors one;
    one.whole = std::move(wholes[e]);
    one.scales = copied<float>(sentence_vectors.first(sentences * 4));
    sentence_vectors = sentence_vectors.subspan(sentences * 4);
    const std::size_t size = sentences * embedders[e].dimensions;
    one.sentences = copied<std::int8_t>(sentence_vectors.first(size));
    sentence_vectors = sentence_vectors.subspan(size);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace plimsoll::base
