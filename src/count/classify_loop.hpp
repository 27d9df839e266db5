// The loop over blocks of 64 bytes that every classifier shares; included once per instruction set.
// A Lanes type gives: look_up (64 bytes through a table of 128, returning where bytes are not ASCII)
// and mask_of (which of 64 class bytes have a bit).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "count/classify.hpp"
#include "count/unicode.hpp"

namespace plimsoll::count {
namespace {

template <typename Lanes>
void classify_with(std::string_view text, const ClassTable& table, Classes& out) {
  const Lanes lanes(table.ascii.data());
  const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = begin + text.size();
  std::uint8_t* bytes = out.bytes.data();
  std::size_t done = 0;  // a character of several bytes reaches up to here, perhaps into the next block
  std::uint8_t done_class = 0;
  for (std::size_t block = 0; block < text.size(); block += 64) {
    std::uint64_t wide;
    if (text.size() - block >= 64) {
      wide = lanes.look_up(begin + block, bytes + block);
    } else {
      alignas(64) unsigned char padded[64] = {};
      std::memcpy(padded, begin + block, text.size() - block);
      wide = lanes.look_up(padded, bytes + block);
      std::memset(bytes + text.size(), 0, block + 64 - text.size());
    }
    if (wide != 0) {
      for (std::size_t i = block; i < done; ++i) bytes[i] = done_class | cls::inner;
      if (done > block) wide &= done - block >= 64 ? 0 : ~std::uint64_t{0} << (done - block);
      while (wide != 0) {
        const std::size_t i = block + static_cast<std::size_t>(std::countr_zero(wide));
        const Decoded character = decode(begin + i, end);
        done_class = table.by_category[character.valid ? category_of(character.code_point) : std::uint8_t{invalid}];
        bytes[i] = done_class;
        for (std::size_t k = 1; k < character.length; ++k) bytes[i + k] = done_class | cls::inner;
        done = i + character.length;
        const std::size_t next = done - block;
        wide = next >= 64 ? 0 : wide & (~std::uint64_t{0} << next);
      }
    }
    const std::size_t word = block / 64;
    out.letter[word] = lanes.mask_of(bytes + block, cls::letter);
    out.space[word] = lanes.mask_of(bytes + block, cls::space);
    out.sign[word] = lanes.mask_of(bytes + block, cls::sign);
    out.upper[word] = lanes.mask_of(bytes + block, cls::upper);
    out.lower[word] = lanes.mask_of(bytes + block, cls::lower);
  }
  // What lies behind the text has no class; two words, as a run is read eight bytes at a time.
  const std::size_t words = (text.size() + 63) / 64;
  std::memset(bytes + words * 64, 0, 64);
  for (auto* mask : {&out.letter, &out.space, &out.sign, &out.upper, &out.lower}) (*mask)[words] = (*mask)[words + 1] = 0;
}

}  // namespace
}  // namespace plimsoll::count
