// Class bits of every byte of a stretch of text, and one bit mask per class, so that a pre-tokeniser
// finds the end of a run of letters with one count of trailing ones instead of a loop.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace plimsoll::count {

// All bytes of a character have its class; those after the first have `inner` as well. What exactly
// is a letter or a sign is the pre-tokeniser's choice (ClassTable). A byte of no class ends every run.
namespace cls {
inline constexpr std::uint8_t letter = 1, digit = 2, space = 4, newline = 8, sign = 16, upper = 32, lower = 64, inner = 128;
}

struct ClassTable {
  std::array<std::uint8_t, 128> ascii{};
  std::array<std::uint8_t, 64> by_category{};  // Category, with its flag, to class bits

  // From the class of each category; the ASCII half follows from it.
  static ClassTable of(const std::array<std::uint8_t, 64>& by_category);
};

// One stretch of text, classified. Reused from stretch to stretch.
class Classes {
 public:
  std::uint8_t at(std::size_t i) const { return bytes[i]; }

  // First position at or after i whose mask bit is not set.
  static std::size_t run_end(const std::vector<std::uint64_t>& mask, std::size_t i) {
    for (;;) {
      std::uint64_t bits;
      std::memcpy(&bits, reinterpret_cast<const char*>(mask.data()) + (i >> 3), sizeof bits);
      const std::size_t offset = i & 7;
      const auto ones = static_cast<std::size_t>(std::countr_one(bits >> offset));
      i += ones;
      if (ones < 64 - offset) return i;
    }
  }

  void reserve(std::size_t size);  // room for `size` bytes of text

  std::vector<std::uint8_t> bytes;  // readable past the text's end: no class
  std::vector<std::uint64_t> letter, space, sign, upper, lower;
};

// Classifies text into `out`, which has room for it. Cuts no character: the caller ends the
// stretch where one ends, or at the end of the text.
using Classify = void (*)(std::string_view text, const ClassTable& table, Classes& out);

// The fastest one for this machine.
Classify classify();

struct NamedClassify {
  const char* name;
  Classify run;
};
// All that this machine can run, the portable one first.
std::span<const NamedClassify> all_classifiers();

}  // namespace plimsoll::count
