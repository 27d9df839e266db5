// Class bits of every byte of a stretch of text, and one bit mask per class, so that a pre-tokeniser
// finds the end of a run of letters with one count of trailing ones instead of a loop.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace plimsoll::count {

// All bytes of a character have its class; those after the first have `inner` as well. What exactly
// is a letter or a sign is the pre-tokeniser's choice (ClassTable). A byte of no class ends every run.
namespace cls {
inline constexpr std::uint8_t letter = 1, digit = 2, space = 4, newline = 8, sign = 16, upper = 32,
                              lower = 64, inner = 128;
}

struct ClassTable {
  std::array<std::uint8_t, 128> ascii{};
  std::array<std::uint8_t, 64> by_category{};  // Category, with its flag, to class bits

  // From the class of each category; the ASCII half follows from it.
  static ClassTable of(const std::array<std::uint8_t, 64>& by_category);
};

// The masks of 64 bytes: one bit a byte, the first byte lowest.
struct ClassWord {
  std::uint64_t letter, digit, space, newline, sign, upper, lower, inner;  // by class
  std::uint64_t blank, quote, slash;                                       // the bytes ' ', '\'' and '/'
};

// One stretch of text, classified. Reused from stretch to stretch.
class Classes {
 public:
  std::uint8_t at(std::size_t i) const { return bytes[i]; }

  // First position at or after i where the mask that `of` makes of a word has no bit.
  template <typename Of>
    requires std::invocable<Of, const ClassWord&>
  std::size_t run_end(Of of, std::size_t i) const {
    for (;;) {
      const std::size_t offset = i & 63;
      const auto ones = static_cast<std::size_t>(std::countr_one(of(words[i >> 6]) >> offset));
      i += ones;
      if (ones < 64 - offset) return i;
    }
  }
  std::size_t run_end(std::uint64_t ClassWord::*mask, std::size_t i) const {
    return run_end([mask](const ClassWord& word) { return word.*mask; }, i);
  }

  void reserve(std::size_t size);  // room for `size` bytes of text

  std::vector<std::uint8_t> bytes;              // readable past the text's end: no class
  std::vector<ClassWord> words;                 // likewise
  std::vector<std::uint64_t> starts, doubtful;  // the pre-tokeniser's (pretokenize.cpp)
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
