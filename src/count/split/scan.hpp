// The pre-tokenisers' rules over class masks. Each rule returns the end of the piece that starts at p;
// the equivalent expression is quoted above it. Alternatives are tried in its order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "count/split/classify.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {

struct Piece {
  std::size_t end;
  std::size_t seen = 0;  // the first position that the rule did not read, if it is past `end`
};

// ---- Shared parts of the rules ----

inline std::array<std::uint8_t, category_values> classes_by(std::uint8_t (*class_of)(std::uint8_t category)) {
  std::array<std::uint8_t, category_values> table{};
  for (std::uint8_t category = 0; category < category_values; ++category)
    table[category] = class_of(category);
  return table;
}

constexpr bool is_letter(std::uint8_t category) {
  return category <= lo;
}
constexpr bool is_mark(std::uint8_t category) {
  return category >= mn && category <= me;
}
constexpr bool is_number(std::uint8_t category) {
  return category >= nd && category <= no;
}
constexpr bool is_sign(std::uint8_t category) {
  return category >= pc && category <= so;
}
constexpr bool is_space(std::uint8_t category) {
  return (category >= zs && category <= zp) || category == cc_space;
}

// \p{L} letters, \p{N} digits, \s spaces, all else signs.
inline std::uint8_t plain_class(std::uint8_t flagged) {
  const auto category = static_cast<std::uint8_t>(flagged & ~cjk);
  return is_letter(category)   ? cls::letter
         : is_number(category) ? cls::digit
         : is_space(category)  ? cls::space
                               : cls::sign;
}

// Returns the end of the character at p.
inline std::size_t character_end(const Classes& classes, std::size_t p) {
  do ++p;
  while (classes.at(p) & cls::inner);
  return p;
}

inline std::size_t newlines_end(const Classes& classes, std::size_t p) {
  while (classes.at(p) & cls::newline) ++p;
  return p;
}

// \p{N}{1,limit}
template <int limit>
std::size_t digits_end(const Classes& classes, std::size_t p) {
  for (int i = 0; i < limit && (classes.at(p) & cls::digit); ++i) p = character_end(classes, p);
  return p;
}

// '(?i:s|t|re|ve|m|ll|d) at p: returns its end, or p. Ignoring case, the long s is an s. Bytes
// without a class are past the end.
template <bool any_case>
std::size_t contraction_end(const Classes& classes, const unsigned char* text, std::size_t p) {
  const auto fold = [](unsigned char c) { return any_case ? static_cast<unsigned char>(c | 0x20) : c; };
  if (classes.at(p) == 0 || text[p] != '\'' || classes.at(p + 1) == 0) return p;
  const unsigned char first = fold(text[p + 1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return p + 2;
  if (classes.at(p + 2) == 0) return p;
  if (any_case && text[p + 1] == 0xC5 && text[p + 2] == 0xBF) return p + 3;
  const unsigned char second = fold(text[p + 2]);
  const bool found = (first == 'r' || first == 'v') ? second == 'e' : first == 'l' && second == 'l';
  return found ? p + 3 : p;
}

// \s+(?!\S)|\s+ at a run of white space that ends at `run`: the whole run at the end of the text, otherwise
// the last character is left for the next piece.
inline Piece spaces(const Classes& classes, std::size_t p, std::size_t run, bool at_end) {
  if (at_end) return {run, run + 1};
  std::size_t last = run - 1;
  while (classes.at(last) & cls::inner) --last;
  return {last > p ? last : run, run + 1};
}

// \s*[\r\n]+|\s+(?!\S)|\s+
inline Piece spaces_by_lines(const Classes& classes, std::size_t p, std::size_t run, bool at_end) {
  for (std::size_t i = run; i > p; --i) {
    if (classes.at(i - 1) & cls::newline) return {i, run + 1};
  }
  return spaces(classes, p, run, at_end);
}

// ---- The rules ----

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
template <int digits>
struct Cl100kRule {
  static auto classes() { return classes_by(plain_class); }

  Piece operator()(const Classes& c, const unsigned char* text, std::size_t p) const {
    const std::uint8_t kind = c.at(p);
    if (kind & cls::letter) return {c.run_end(&ClassWord::letter, p)};
    if (text[p] == ' ') {
      const std::uint8_t next = c.at(p + 1);
      if (next & cls::letter) return {c.run_end(&ClassWord::letter, p + 1)};
      if (next & cls::sign) return {newlines_end(c, c.run_end(&ClassWord::sign, p + 1))};
    }
    if (kind & cls::digit) return {digits_end<digits>(c, p)};
    if (kind & cls::sign) {
      if (const std::size_t end = contraction_end<true>(c, text, p); end != p) return {end};
      const std::size_t next = character_end(c, p);
      if (c.at(next) & cls::letter) return {c.run_end(&ClassWord::letter, next)};
      return {newlines_end(c, c.run_end(&ClassWord::sign, p))};
    }
    if (!(kind & cls::newline)) {
      const std::size_t next = character_end(c, p);
      if (c.at(next) & cls::letter) return {c.run_end(&ClassWord::letter, next)};
    }
    const std::size_t run = c.run_end(&ClassWord::space, p);
    return spaces_by_lines(c, p, run, c.at(run) == 0);
  }
};

// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
// |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
// |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// A mark is a sign, and also both upper and lower: it may start a word, continue one, or be in a
// run of signs. As the optional first character it changes nothing, because a word can start with it.
template <int digits, bool contractions>
struct O200kRule {
  static std::uint8_t class_of(std::uint8_t flagged) {
    const auto category = static_cast<std::uint8_t>(flagged & ~cjk);
    if (is_mark(category)) return cls::sign | cls::upper | cls::lower;
    if (!is_letter(category)) return plain_class(category);
    if (category == lu || category == lt) return cls::letter | cls::upper;
    return category == ll ? cls::letter | cls::lower : cls::letter | cls::upper | cls::lower;
  }
  static auto classes() { return classes_by(class_of); }
  static constexpr std::uint8_t word = cls::upper | cls::lower;

  // The first two alternatives, from the first character of the word itself.
  static std::size_t word_end(const Classes& c, const unsigned char* text, std::size_t p) {
    std::size_t end = c.run_end(&ClassWord::upper, p);
    if (c.at(end) & cls::lower) {
      end = c.run_end(&ClassWord::lower, end);
    } else {
      // No lower case follows: the upper run backtracks to its last character that is both.
      std::size_t both = end;
      while (both > p && !(c.at(both - 1) & cls::lower)) --both;
      if (both > p) end = both;
    }
    return contractions ? contraction_end<true>(c, text, end) : end;
  }

  static std::size_t signs_end(const Classes& c, const unsigned char* text, std::size_t p) {
    p = c.run_end(&ClassWord::sign, p);
    while ((c.at(p) & cls::newline) || (c.at(p) != 0 && text[p] == '/')) ++p;
    return p;
  }

  Piece operator()(const Classes& c, const unsigned char* text, std::size_t p) const {
    const std::uint8_t kind = c.at(p);
    if (kind & word) return {word_end(c, text, p)};
    if (text[p] == ' ') {
      const std::uint8_t next = c.at(p + 1);
      if (next & word) return {word_end(c, text, p + 1)};
      if (next & cls::sign) return {signs_end(c, text, p + 1)};
    }
    if (kind & cls::digit) return {digits_end<digits>(c, p)};
    if (!(kind & cls::newline)) {
      const std::size_t next = character_end(c, p);
      if (c.at(next) & word) return {word_end(c, text, next)};
      if (kind & cls::sign) return {signs_end(c, text, p)};
    }
    const std::size_t run = c.run_end(&ClassWord::space, p);
    return spaces_by_lines(c, p, run, c.at(run) == 0);
  }
};

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// digits_apart: every \p{N} is a piece, and the text between two of them is handled separately.
template <bool digits_apart>
struct Gpt2Rule {
  static auto classes() { return classes_by(plain_class); }

  Piece operator()(const Classes& c, const unsigned char* text, std::size_t p) const {
    if (const std::size_t end = contraction_end<false>(c, text, p); end != p) return {end};
    if (digits_apart && (c.at(p) & cls::digit)) return {character_end(c, p)};
    const std::size_t first = text[p] == ' ' ? p + 1 : p;
    const std::uint8_t kind = c.at(first);
    if (kind & cls::letter) return {c.run_end(&ClassWord::letter, first)};
    if (kind & cls::sign) return {c.run_end(&ClassWord::sign, first)};
    if (!digits_apart && (kind & cls::digit)) {
      std::size_t end = first;
      while (c.at(end) & cls::digit) ++end;
      return {end};
    }
    const std::size_t run = c.run_end(&ClassWord::space, p);
    return spaces(c, p, run, c.at(run) == 0 || (digits_apart && (c.at(run) & cls::digit)));
  }
};

// First \p{N}{1,3} and then [一-龥぀-ゟ゠-ヿ]+ are separated; on each remaining range:
// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
// ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ and text that matches no alternative stays together.
// `upper` marks the range of Han and kana, at whose borders every run ends; `lower` marks characters that
// match no alternative alone.
struct DeepseekRule {
  static std::uint8_t class_of(std::uint8_t flagged) {
    const auto category = static_cast<std::uint8_t>(flagged & ~cjk);
    const std::uint8_t range = flagged & cjk ? cls::upper : 0;
    if (is_letter(category) || is_mark(category)) return cls::letter | range;
    if (is_number(category)) return cls::digit | range;
    if (is_sign(category)) return cls::sign | range;
    return (is_space(category) ? cls::space : cls::lower) | range;
  }
  static auto classes() { return classes_by(class_of); }

  static bool is_ascii_letter(unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

  // Returns the end of a run of this class on the same side of the range's border.
  static std::size_t run(const Classes& c, std::uint64_t ClassWord::*mask, std::size_t p) {
    if (c.at(p) & cls::upper) return c.run_end([mask](const ClassWord& w) { return w.*mask & w.upper; }, p);
    return c.run_end([mask](const ClassWord& w) { return w.*mask & ~w.upper; }, p);
  }

  // Returns whether the character at q has this class and is on the same side as the one at p.
  static bool follows(const Classes& c, std::size_t p, std::size_t q, std::uint8_t kind) {
    return (c.at(q) & kind) && ((c.at(p) ^ c.at(q)) & cls::upper) == 0;
  }

  static std::size_t signs_end(const Classes& c, std::size_t p) {
    const std::size_t end = run(c, &ClassWord::sign, p);
    return c.at(p) & cls::upper ? end : newlines_end(c, end);
  }

  Piece operator()(const Classes& c, const unsigned char* text, std::size_t p) const {
    const std::uint8_t kind = c.at(p);
    if (kind & cls::letter) return {run(c, &ClassWord::letter, p)};
    if (kind & cls::digit) return {digits_end<3>(c, p)};
    if (kind & cls::sign) {
      if (text[p] < 0x80 && c.at(p + 1) != 0 && is_ascii_letter(text[p + 1])) {
        std::size_t end = p + 1;
        while (c.at(end) != 0 && is_ascii_letter(text[end])) ++end;
        return {end};
      }
      return {signs_end(c, p)};
    }
    if (!(kind & cls::newline)) {
      const std::size_t next = character_end(c, p);
      if (follows(c, p, next, cls::letter)) return {run(c, &ClassWord::letter, next)};
    }
    if (kind & cls::lower) return gap(c, p);
    if (text[p] == ' ' && follows(c, p, p + 1, cls::sign)) return {signs_end(c, p + 1)};
    const std::size_t end = c.run_end(&ClassWord::space, p);
    const bool at_end = c.at(end) == 0 || (c.at(end) & (cls::digit | cls::upper));
    return spaces_by_lines(c, p, end, at_end);
  }

  // Characters that match nothing, up to one that starts a word.
  static Piece gap(const Classes& c, std::size_t p) {
    const std::size_t end = run(c, &ClassWord::lower, p);
    if (!follows(c, p, end, cls::letter)) return {end, end + 1};
    std::size_t last = end - 1;
    while (c.at(last) & cls::inner) --last;
    return {last, end + 1};
  }
};

}  // namespace plimsoll::count
