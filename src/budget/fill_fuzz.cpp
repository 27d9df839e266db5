// Any sections, pieces and window: an error or a placement that keeps the law, never a crash.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "plimsoll/budget.hpp"

namespace {

using namespace plimsoll;

// Reads numbers off the input until it is used up, then zeros.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <typename T>
  T next() {
    T value{};
    const std::size_t taken = std::min(sizeof(T), size_);
    std::memcpy(&value, data_, taken);
    data_ += taken;
    size_ -= taken;
    return value;
  }
  bool done() const { return size_ == 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// Mostly small, sometimes anything at all.
Tokens tokens(Bytes& bytes) {
  return bytes.next<std::uint8_t>() % 8 == 0 ? bytes.next<Tokens>() : bytes.next<std::uint16_t>();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  Load load;
  const Tokens window = tokens(bytes);
  for (std::size_t kind = 0; kind < section_kinds; ++kind) {
    Section section{.kind = static_cast<SectionKind>(kind)};
    section.min = tokens(bytes);
    section.basis = tokens(bytes);
    section.max = tokens(bytes);
    section.grow = bytes.next<std::int32_t>();
    section.shrink = bytes.next<std::int32_t>();
    load.sections.push_back(section);
  }
  load.most_turns = bytes.next<std::int8_t>();
  load.most_passages = bytes.next<std::int8_t>();
  const std::array lists{&load.facts, &load.turns, &load.passages};
  while (!bytes.done()) {
    lists[bytes.next<std::uint8_t>() % 3]->push_back(
        {static_cast<Tokens>(bytes.next<std::uint16_t>()), bytes.next<double>()});
  }
  const auto placement = budget::fill(window, load);
  if (!placement) return 0;
  Tokens used = 0;
  for (std::size_t i = 0; i < section_kinds; ++i) {
    used += placement->used[i];
    if (placement->used[i] < 0 || placement->used[i] > placement->grants[i]) std::abort();
  }
  if (used + placement->left != window || placement->left < 0) std::abort();
  return 0;
}
