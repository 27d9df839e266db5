// Class bits of every byte of a range of text, and one bit mask per class, so that a pre-tokeniser
// finds the end of a run of letters by counting trailing ones instead of looping.
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

// All bytes of a character have its class; those after the first also have `inner`. The pre-tokeniser
// defines letters and signs (ClassTable). A byte without a class ends every run.
namespace cls {
inline constexpr std::uint8_t letter = 1, digit = 2, space = 4, newline = 8, sign = 16, upper = 32,
                              lower = 64, inner = 128;
}

struct ClassTable {
  std::array<std::uint8_t, 128> ascii{};
  std::array<std::uint8_t, 64> by_category{};  // Category, with its flag, to class bits

  // Builds the table from the class of each category; the ASCII half follows from it.
  static ClassTable of(const std::array<std::uint8_t, 64>& by_category);
};

// The masks of 64 bytes: one bit per byte, the first byte lowest.
struct ClassWord {
  std::uint64_t letter, digit, space, newline, sign, upper, lower, inner;  // by class
  std::uint64_t blank, quote, slash;                                       // the bytes ' ', '\'' and '/'
};

// A classified range of text. Reused for all ranges.
class Classes {
 public:
  std::uint8_t at(std::size_t i) const { return bytes[i]; }

  // Returns the first position at or after i where the mask `of(word)` has no bit.
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

  std::vector<std::uint8_t> bytes;              // readable past the text's end, with no class
  std::vector<ClassWord> words;                 // the same
  std::vector<std::uint64_t> starts, doubtful;  // used by the pre-tokeniser (pretokenize.cpp)
};

// Classifies text into `out`, which has room for it. The caller must end the
// range at a character boundary or at the end of the text.
using Classify = void (*)(std::string_view text, const ClassTable& table, Classes& out);

// Returns the fastest one for this CPU.
Classify classify();

struct NamedClassify {
  const char* name;
  Classify run;
};
// Returns all that this CPU supports, the portable one first.
std::span<const NamedClassify> all_classifiers();

// For one kind of CPU each.
void classify_portable(std::string_view text, const ClassTable& table, Classes& out);
void classify_avx2(std::string_view text, const ClassTable& table, Classes& out);
void classify_avx512(std::string_view text, const ClassTable& table, Classes& out);
void classify_neon(std::string_view text, const ClassTable& table, Classes& out);

}  // namespace plimsoll::count
