#include "base/documents/packing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto sentences = base::unpack_sentences(bytes, {5, 1'000}); sentences) {
    for (const Sentence& sentence : *sentences) {
      if (sentence.span.start < 5 || sentence.span.end > 1'000 || sentence.span.start > sentence.span.end)
        __builtin_trap();
    }
  }
  (void)base::unpack_sections(bytes);
  (void)base::unpack_origins(bytes);
  const EmbedderInfo embedders[] = {{.name = "a", .dimensions = 3, .max_tokens = 0}};
  (void)base::unpack_vectors(bytes, embedders, 0, size / 8);
  (void)base::unpack_both(bytes.first(size / 2), bytes.subspan(size / 2), embedders, size / 16);
  return 0;
}
