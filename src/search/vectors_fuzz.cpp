// Any bytes as a vectors file, or as changes to a valid one, with a matching header and checksum: refused, or
// searched to the end and extended.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "search/vectors.hpp"
#include "search/vectors_file.hpp"

namespace {

using namespace plimsoll::search;

constexpr std::uint32_t dimensions = 4;
constexpr VectorOptions options{.exact_up_to = 1, .search_effort = 16, .walk_comparisons = 0, .threads = 1};

std::vector<std::uint64_t> sound() {
  const auto vectors = std::make_shared<Vectors>(dimensions, options);
  for (int id = 1; id <= 60; ++id) {
    std::array<Bf16, dimensions> vector{};
    for (std::size_t i = 0; i < dimensions; ++i)
      vector[i] = to_bf16(std::sin(static_cast<float>(id * 7 + static_cast<int>(i) * 3)));
    vectors->add(id, id / 4, vector);
  }
  vectors->settle();
  const plimsoll::Removed removed{5, 9};
  const std::string bytes = vectors->bytes(vectors->view(nullptr, std::span(&removed, 1)), 1, 1, 60);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// Three bytes of input each: position and value.
std::vector<std::uint64_t> changed(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::uint64_t> original = sound();
  std::vector<std::uint64_t> words = original;
  const std::span bytes = std::as_writable_bytes(std::span(words));
  for (std::size_t i = 0; i + 3 <= size; i += 3)
    bytes[(data[i] * 256U + data[i + 1]) % bytes.size()] = static_cast<std::byte>(data[i + 2]);
  return words;
}

std::vector<std::uint64_t> taken_as_it_is(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint64_t> words((size + sizeof(VectorsHeader)) / 8 + 1);
  if (size > 0) std::memcpy(words.data(), data, size);
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
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto words = data[0] % 2 == 0 ? changed(data + 1, size - 1) : taken_as_it_is(data + 1, size - 1);
  const std::uint64_t sum = checksum_of_vectors(std::as_bytes(std::span(words)));
  std::memcpy(reinterpret_cast<char*>(words.data()) + offsetof(VectorsHeader, checksum), &sum, sizeof(sum));

  const auto read = Vectors::read(std::as_bytes(std::span(words)), nullptr, 1, dimensions, options);
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
