// Finds the starts of pieces, 64 bytes at a time.
//
// Almost every border between two pieces follows from the classes of the two adjacent characters,
// so it can be computed for a whole word of bits without a branch. Where more is needed
// (contractions, long numbers, unusual white space) the position is marked `doubtful`, and the rule
// of scan.hpp runs from the previous start until it reaches a start again. Splitting never looks back
// past a piece's own start, so from there on both agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "count/split/classify.hpp"

namespace plimsoll::count {

// The masks of one word, with carries from the neighbouring words.
struct Word : ClassWord {
  std::uint64_t next_letter, next_space, next_digit;  // of the following word
  bool text_ends_here;      // the text's last byte is in this word, and the text is complete
  std::uint64_t last_byte;  // that byte's bit
};

struct Starts {
  std::uint64_t starts, doubtful;
};

// Shifts and sums with carry between words. One object per quantity and pass.
class Shift {
 public:
  std::uint64_t operator()(std::uint64_t x) {
    const std::uint64_t shifted = x << 1 | carry_;
    carry_ = x >> 63;
    return shifted;
  }

 private:
  std::uint64_t carry_ = 0;
};

// x + y. Adding a bit to a run of ones clears the run from there and sets the bit after it.
class Sum {
 public:
  std::uint64_t operator()(std::uint64_t x, std::uint64_t y) {
    std::uint64_t sum;
    const bool first = __builtin_add_overflow(x, y, &sum);
    const bool second = __builtin_add_overflow(sum, carry_, &sum);
    carry_ = first || second ? 1 : 0;
    return sum;
  }

 private:
  std::uint64_t carry_ = 0;
};

// \s*[\r\n]+|\s+(?!\S)|\s+ where newlines directly after a run of signs belong to that run.
class SpaceStarts {
 public:
  Starts operator()(const Word& w, std::uint64_t sign) {
    const std::uint64_t after_sign = w.newline & sign_(sign);
    const std::uint64_t taken = w.newline & ~taken_(after_sign, w.newline);
    const std::uint64_t space = w.space & ~taken;
    const std::uint64_t newline = w.newline & ~taken;
    const std::uint64_t other = space & ~newline;
    const std::uint64_t after_newline = newline_(newline) & other;
    // Spaces between two newlines belong to the first one's piece.
    const std::uint64_t run_on = between_(after_newline, other) & ~other & newline;
    std::uint64_t last = other & ~(w.space >> 1 | w.next_space << 63);
    if (w.text_ends_here) last &= ~w.last_byte;
    return {(space & ~space_(space)) | after_newline | (last & ~w.inner), run_on | (last & w.inner)};
  }

 private:
  Shift sign_, newline_, space_;
  Sum taken_, between_;
};

// The first positions of the characters after those that start at x.
class After {
 public:
  std::uint64_t operator()(std::uint64_t x, std::uint64_t inner) { return sum_(shift_(x), inner) & ~inner; }

 private:
  Shift shift_;
  Sum sum_;
};

// Four digits in a row: a number that may have to be split.
class LongNumber {
 public:
  std::uint64_t operator()(std::uint64_t digit) {
    const std::uint64_t two = digit & one_(digit);
    const std::uint64_t three = two & two_(two);
    return three & three_(three);
  }

 private:
  Shift one_, two_, three_;
};

// The first piece starts at the first byte of the text.
template <int digits>
class Cl100kStarts {
 public:
  Starts operator()(const Word& w) {
    const std::uint64_t sign = w.sign & ~sign_(w.sign) & ~blank_(w.blank);
    const std::uint64_t letter =
        w.letter & ~letter_(w.letter) & ~space_(w.space & ~w.newline) & ~after_(sign, w.inner);
    Starts found = spaces_(w, w.sign);
    found.starts |= sign | letter | (digits == 1 ? w.digit & ~w.inner : w.digit & ~digit_(w.digit));
    found.doubtful |= w.quote & (w.letter >> 1 | w.next_letter << 63);
    if (digits > 1) found.doubtful |= long_(w.digit);
    return found;
  }

 private:
  Shift sign_, blank_, letter_, space_, digit_;
  After after_;
  SpaceStarts spaces_;
  LongNumber long_;
};

template <int digits, bool contractions>
class O200kStarts {
 public:
  Starts operator()(const Word& w) {
    const std::uint64_t word = w.upper | w.lower;
    const std::uint64_t mark = w.sign & word;
    const std::uint64_t plain_sign = w.sign & ~word;
    const std::uint64_t sign_before = sign_(plain_sign);
    const std::uint64_t sign = plain_sign & ~sign_before & ~blank_(w.blank);
    const std::uint64_t only_upper = w.upper & ~w.lower;
    const std::uint64_t opened = word & ~word_(word) & ~space_(w.space & ~w.newline) & ~after_(sign, w.inner);
    Starts found = spaces_(w, plain_sign);
    found.starts |= sign | opened | (only_upper & lower_(w.lower & ~w.upper));
    found.starts |= digits == 1 ? w.digit & ~w.inner : w.digit & ~digit_(w.digit);
    // A mark after a sign may be one of the signs; if upper case follows a character that is both, the rest
    // of the word decides; a slash may follow newlines after signs.
    found.doubtful |=
        (mark & sign_before) | (only_upper & both_(w.upper & w.lower)) | (w.slash & newline_(w.newline));
    if (contractions) found.doubtful |= w.quote & (w.letter >> 1 | w.next_letter << 63);
    if (digits > 1) found.doubtful |= long_(w.digit);
    return found;
  }

 private:
  Shift sign_, blank_, word_, space_, lower_, digit_, both_, newline_;
  After after_;
  SpaceStarts spaces_;
  LongNumber long_;
};

template <bool digits_apart>
class Gpt2Starts {
 public:
  Starts operator()(const Word& w) {
    const std::uint64_t after_blank = blank_(w.blank);
    Starts found{};
    found.starts = (w.letter & ~letter_(w.letter) & ~after_blank) | (w.sign & ~sign_(w.sign) & ~after_blank) |
                   (w.space & ~space_(w.space));
    found.starts |= digits_apart ? w.digit & ~w.inner : w.digit & ~digit_(w.digit) & ~after_blank;
    std::uint64_t last = w.space & ~(w.space >> 1 | w.next_space << 63);
    if (w.text_ends_here) last &= ~w.last_byte;
    if (digits_apart) last &= ~(w.digit >> 1 | w.next_digit << 63);
    found.starts |= last & ~w.inner;
    found.doubtful = (last & w.inner) | (w.quote & (w.letter >> 1 | w.next_letter << 63));
    return found;
  }

 private:
  Shift blank_, letter_, sign_, space_, digit_;
};

}  // namespace plimsoll::count
