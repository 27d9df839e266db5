// Any bytes as an inverted index, or as changes to a valid one, with a matching header and checksum: refused,
// or searched to the end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "search/lexical.hpp"

namespace {

using namespace plimsoll::search;

std::vector<std::uint64_t> sound() {
  SegmentBuilder builder;
  for (int id = 1; id <= 200; ++id) {
    const std::string text =
        "ship number" + std::to_string(id % 9) + (id % 3 == 0 ? " anchor anchor" : " sail");
    const std::string_view view = text;
    builder.add(id, id / 4, std::span(&view, 1));
  }
  const Segment segment = builder.finish(1, 1, 200);
  std::vector<std::uint64_t> words(segment.bytes().size() / 8);
  std::memcpy(words.data(), segment.bytes().data(), segment.bytes().size());
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
  std::vector<std::uint64_t> words((size + sizeof(SegmentHeader)) / 8 + 1);
  if (size > 0) std::memcpy(words.data(), data, size);
  SegmentHeader header;
  std::memcpy(&header, words.data(), sizeof(header));
  header.magic = segment_magic;
  header.schema = segment_schema;
  header.chunks %= 512;
  header.terms %= 64;
  header.blocks %= 64;
  header.letters %= 512;
  header.postings %= 4096;
  header.bytes = layout_of(header).end;
  words.resize(header.bytes / 8);
  std::memcpy(words.data(), &header, sizeof(header));
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto words = data[0] % 2 == 0 ? changed(data + 1, size - 1) : taken_as_it_is(data + 1, size - 1);
  const std::uint64_t sum = checksum_of(std::as_bytes(std::span(words)));
  std::memcpy(reinterpret_cast<char*>(words.data()) + offsetof(SegmentHeader, checksum), &sum, sizeof(sum));

  auto segment = Segment::open(std::as_bytes(std::span(words)), nullptr);
  if (!segment) {
    if (segment.error().code != plimsoll::Errc::damaged) std::abort();
    return 0;
  }
  const auto kept = std::make_shared<const Segment>(*std::move(segment));
  const Lexical lexical({std::make_shared<const LivingPart>(kept, nullptr)});
  for (std::size_t i = 0; i < kept->terms(); ++i) (void)lexical.search(kept->letters(i), 10, nullptr);
  const SegmentPart part{kept, nullptr};
  if (merge(std::span(&part, 1), 1, 1, kept->header().highest).size() != kept->size()) std::abort();
  return 0;
}
