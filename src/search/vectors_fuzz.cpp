// Any bytes as a file of vectors, with a header and a checksum that were made to fit: refused, or searched to
// the end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "search/vectors.hpp"
#include "search/vectors_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::search;
  constexpr std::uint32_t dimensions = 4;
  std::vector<std::uint64_t> words((size + sizeof(VectorsHeader)) / 8 + 1);
  if (size > 0) std::memcpy(words.data(), data, size);
  if (size > 0 && data[0] == 'P') {
    VectorsHeader header;
    std::memcpy(&header, words.data(), sizeof(header));
    header.magic = vectors_magic;
    header.schema = vectors_schema;
    header.index = 1;
    header.dimensions = dimensions;
    header.vectors %= 64;
    header.nodes %= 64;
    header.upper_rows %= 64;
    header.bytes = bytes_for(header);
    words.resize(header.bytes / 8);
    std::memcpy(words.data(), &header, sizeof(header));
    const std::uint64_t sum = checksum_of_vectors(std::as_bytes(std::span(words)));
    std::memcpy(reinterpret_cast<char*>(words.data()) + offsetof(VectorsHeader, checksum), &sum, sizeof(sum));
  }
  const auto read = Vectors::read(std::as_bytes(std::span(words)), nullptr, 1, dimensions,
                                  {.exact_up_to = 1, .walk_comparisons = 0});
  if (!read) {
    if (read.error().code != plimsoll::Errc::damaged) std::abort();
    return 0;
  }
  const float query[dimensions] = {1, 0.5F, -0.25F, 0};
  if (read->view.nearest(query, 10, nullptr).size() > 10) std::abort();
  if (read->vectors->highest() > INT64_MAX - 8) return 0;
  for (int i = 1; i < 4; ++i) {
    const Bf16 vector[dimensions] = {0x3F80, 0, 0, 0};
    read->vectors->add(read->vectors->highest() + 1, 1, vector);
  }
  read->vectors->settle();
  (void)read->vectors->view(&read->view, {}).nearest(query, 10, nullptr);
  return 0;
}
