// The loop over blocks of 64 bytes that every classifier shares; included once per instruction set.
// A Lanes type gives: look_up (64 bytes through a table of 128, returning where bytes are not ASCII),
// mask_of (which of 64 class bytes have a bit) and mask_equal (which of 64 bytes are this one).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "count/split/classify.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {  // NOLINT(misc-anonymous-namespace-in-header): each includer is compiled for another CPU

template <typename Lanes>
void classify_with(std::string_view text, const ClassTable& table, Classes& out) {
  const Lanes lanes(table.ascii.data());
  const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = begin + text.size();
  std::uint8_t* bytes = out.bytes.data();
  const std::uint8_t* flat = flat_categories();
  std::size_t done = 0;  // end of the last multi-byte character, possibly in the next block
  std::uint8_t done_class = 0;
  for (std::size_t block = 0; block < text.size(); block += 64) {
    alignas(64) unsigned char padded[64];
    const unsigned char* in = begin + block;
    if (text.size() - block < 64) {
      std::memset(padded, 0, sizeof padded);
      std::memcpy(padded, in, text.size() - block);
      in = padded;
    }
    std::uint64_t wide = lanes.look_up(in, bytes + block);
    if (in == padded) std::memset(bytes + text.size(), 0, block + 64 - text.size());
    if (wide != 0) {
      for (std::size_t i = block; i < done; ++i) bytes[i] = done_class | cls::inner;
      if (done > block) wide &= done - block >= 64 ? 0 : ~std::uint64_t{0} << (done - block);
      while (wide != 0) {
        const std::size_t i = block + static_cast<std::size_t>(std::countr_zero(wide));
        const Decoded character = decode(begin + i, end);
        done_class =
            table.by_category[!character.valid                    ? std::uint8_t{invalid}
                              : character.code_point < flat_limit ? flat[character.code_point]
                                                                  : category_of(character.code_point)];
        bytes[i] = done_class;
        for (std::size_t k = 1; k < character.length; ++k) bytes[i + k] = done_class | cls::inner;
        done = i + character.length;
        const std::size_t next = done - block;
        wide = next >= 64 ? 0 : wide & (~std::uint64_t{0} << next);
      }
    }
    const std::uint8_t* own = bytes + block;
    out.words[block / 64] = {
        lanes.mask_of(own, cls::letter),  lanes.mask_of(own, cls::digit), lanes.mask_of(own, cls::space),
        lanes.mask_of(own, cls::newline), lanes.mask_of(own, cls::sign),  lanes.mask_of(own, cls::upper),
        lanes.mask_of(own, cls::lower),   lanes.mask_of(own, cls::inner), lanes.mask_equal(in, ' '),
        lanes.mask_equal(in, '\''),       lanes.mask_equal(in, '/')};
  }
  // Bytes after the text have no class.
  const std::size_t words = (text.size() + 63) / 64;
  std::memset(bytes + words * 64, 0, 64);
  out.words[words] = {};
}

}  // namespace
}  // namespace plimsoll::count
