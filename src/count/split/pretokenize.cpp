#include "count/split/pretokenize.hpp"

#include <algorithm>

#include "count/split/regex_split.hpp"
#include "count/split/scan.hpp"
#include "count/split/starts.hpp"
#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

// Small enough that text, classes and masks of one window stay in the L1 cache.
constexpr std::size_t usual_window = 8192;
// A rule looks at most this far past the end of its piece, unless it reports more.
constexpr std::size_t look_ahead = 8;

}  // namespace

std::string_view name_of(Splitter splitter) {
  static constexpr std::array<std::string_view, splitter_count> names{
      "whole",  "seams",    "gpt2", "gpt2, digits apart", "cl100k", "cl100k, digits apart", "o200k",
      "tekken", "deepseek", "regex"};
  return names[static_cast<std::size_t>(splitter)];
}

PieceWalk::PieceWalk(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool open)
    : pre_(pre),
      classes_(scratch),
      classify_(classify()),
      text_(text),
      open_(open),
      window_size_(usual_window),
      starts_(scratch.starts) {
  if (pre.splitter == Splitter::regex && !open) regex_ends_ = pre.regex->split(text);
}

// Classifies the next window, from the first piece not returned yet. False: no text is left.
bool PieceWalk::slide() {
  if (window_end_ == text_.size() && window_begin_ < window_end_) return false;
  // A piece that did not fit gets a window of twice the size: the text is read at most twice.
  window_size_ = window_end_ != 0 && position_ == window_begin_ ? window_size_ * 2 : usual_window;
  window_begin_ = position_;
  window_end_ = std::min(text_.size(), window_begin_ + window_size_);
  while (window_end_ < text_.size() && window_end_ > window_begin_ + 4 && is_continuation(text_[window_end_]))
    --window_end_;
  classes_.reserve(window_end_ - window_begin_);
  return window_begin_ < window_end_;
}

template <typename Rule>
std::size_t PieceWalk::fill(const Rule& rule) {
  static const ClassTable table = ClassTable::of(Rule::classes());
  std::size_t count = 0;
  for (;;) {
    const bool last = window_end_ == text_.size() && !open_;
    const std::size_t size = window_end_ - window_begin_;
    const std::size_t safe = last ? size : size - std::min(size, look_ahead);
    const auto* bytes = reinterpret_cast<const unsigned char*>(text_.data()) + window_begin_;
    std::size_t p = position_ - window_begin_;
    while (p < size && count < ends_.size()) {
      const Piece piece = rule(classes_, bytes, p);
      if (!last && std::max(piece.end, piece.seen) >= safe) break;
      p = piece.end;
      ends_[count++] = window_begin_ + p;
    }
    position_ = window_begin_ + p;
    if (count == ends_.size() || (count > 0 && p < size)) return count;
    if (!slide()) return count;
    classify_(text_.substr(window_begin_, window_end_ - window_begin_), table, classes_);
  }
}

namespace {

// Bits of one window's starts.
bool test(const std::vector<std::uint64_t>& bits, std::size_t i) {
  return (bits[i >> 6] >> (i & 63)) & 1;
}
void set(std::vector<std::uint64_t>& bits, std::size_t i) {
  bits[i >> 6] |= std::uint64_t{1} << (i & 63);
}
// Clears [from, to).
void clear(std::vector<std::uint64_t>& bits, std::size_t from, std::size_t to) {
  while (from < to) {
    const std::size_t end = std::min(to, (from | 63) + 1);
    const std::uint64_t above = ~std::uint64_t{0} << (from & 63);
    const std::uint64_t below = (end & 63) == 0 ? ~std::uint64_t{0} : ~(~std::uint64_t{0} << (end & 63));
    bits[from >> 6] &= ~(above & below);
    from = end;
  }
}
// The last set bit below i; bit 0 is always set.
std::size_t last_before(const std::vector<std::uint64_t>& bits, std::size_t i) {
  std::size_t word = i >> 6;
  std::uint64_t below = bits[word] & ~(~std::uint64_t{0} << (i & 63));
  while (below == 0) below = bits[--word];
  return word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(below));
}

Word word_at(const Classes& classes, std::size_t i, std::size_t size, bool last) {
  const ClassWord& next = classes.words[i + 1];
  const bool ends_here = last && size > i * 64 && size <= i * 64 + 64;
  return {classes.words[i], next.letter, next.space,
          next.digit,       ends_here,   ends_here ? std::uint64_t{1} << ((size - 1) & 63) : 0};
}

}  // namespace

// Marks the starts of a window and returns how far they are certain: a piece is certain if its end is a start
// up to that position.
template <typename Rule, typename Marker>
std::size_t PieceWalk::mark_starts(const Rule& rule) {
  const bool last = window_end_ == text_.size() && !open_;
  const std::size_t size = window_end_ - window_begin_;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text_.data()) + window_begin_;
  const std::size_t words = (size + 63) / 64;
  if (starts_.size() < words + 1) starts_.resize(words + 1);
  std::vector<std::uint64_t>& doubtful = classes_.doubtful;
  if (doubtful.size() < words) doubtful.resize(words);

  Marker marker;
  bool any_doubt = false;
  for (std::size_t i = 0; i < words; ++i) {
    const Starts found = marker(word_at(classes_, i, size, last));
    starts_[i] = found.starts;
    doubtful[i] = found.doubtful;
    any_doubt = any_doubt || found.doubtful != 0;
  }
  starts_[0] |= 1;
  starts_[words] = 0;

  // Unless the text ends here, white space or a contraction at the window's end may continue.
  std::size_t certain = size;
  if (!last) {
    certain -= std::min(certain, look_ahead);
    while (certain > 0 && (classes_.at(certain) & cls::space)) --certain;
  }
  for (std::size_t i = 0, from = 0; any_doubt && i < words; ++i) {
    for (std::uint64_t bits = doubtful[i]; bits != 0; bits &= bits - 1) {
      const std::size_t doubt = i * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (doubt < from) continue;
      if (doubt > certain) return certain;
      // A start inside white space may be wrong; the start of the white space is not.
      std::size_t p = doubt == 0 ? 0 : last_before(starts_, doubt);
      while (p > 0 && (classes_.at(p - 1) & cls::space)) p = last_before(starts_, p);
      for (;;) {
        const Piece piece = rule(classes_, bytes, p);
        if (!last && std::max(piece.end, piece.seen) + look_ahead > size) return p;
        clear(starts_, p + 1, piece.end);
        p = piece.end;
        if (p > doubt && (p >= size || test(starts_, p))) break;
        set(starts_, p);
        if (p >= size) break;
      }
      from = p;
    }
  }
  return certain;
}

template <typename Rule, typename Marker>
std::size_t PieceWalk::fill_by_starts(const Rule& rule) {
  static const ClassTable table = ClassTable::of(Rule::classes());
  std::size_t count = 0;
  for (;;) {
    const std::size_t size = window_end_ - window_begin_;
    const bool last = window_end_ == text_.size() && !open_;
    // Each start but the window's first ends a piece.
    std::size_t word = next_start_ >> 6;
    if (next_start_ <= decided_ && size != 0) {
      std::uint64_t bits = starts_[word] & (~std::uint64_t{0} << (next_start_ & 63));
      for (;;) {
        while (bits != 0 && count < ends_.size()) {
          const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          if (at > decided_ || at >= size) break;
          ends_[count++] = window_begin_ + at;
          bits &= bits - 1;
        }
        if (count == ends_.size() || bits != 0 || ++word * 64 > decided_ || word * 64 >= size) break;
        bits = starts_[word];
      }
      if (count > 0) {
        position_ = ends_[count - 1];
        next_start_ = position_ - window_begin_ + 1;
        if (count == ends_.size()) return count;
      }
      if (last) {
        if (position_ < text_.size()) ends_[count++] = position_ = text_.size();
        next_start_ = size + 1;
        return count;
      }
      if (count > 0) return next_start_ = decided_ + 1, count;
    }
    if (!slide()) return count;
    classify_(text_.substr(window_begin_, window_end_ - window_begin_), table, classes_);
    decided_ = mark_starts<Rule, Marker>(rule);
    next_start_ = 1;
  }
}

std::size_t PieceWalk::fill_seams() {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text_.data());
  const std::size_t size = text_.size();
  std::size_t count = 0;
  std::size_t p = position_;
  while (p < size && count < ends_.size()) {
    std::size_t end = p + 1;
    while (end < size && (pre_.seams.joined(bytes[end - 1], bytes[end]) || (bytes[end] & 0xC0) == 0x80))
      ++end;
    if (open_ && end == size) break;
    ends_[count++] = p = end;
  }
  position_ = p;
  return count;
}

std::span<const std::size_t> PieceWalk::next() {
  std::size_t count = 0;
  switch (pre_.splitter) {
    case Splitter::whole:
      if (!open_ && position_ < text_.size()) ends_[count++] = position_ = text_.size();
      break;
    case Splitter::regex:
      while (count < ends_.size() && regex_next_ < regex_ends_.size())
        ends_[count++] = position_ = regex_ends_[regex_next_++];
      break;
    case Splitter::seams: count = fill_seams(); break;
    case Splitter::gpt2: count = fill_by_starts<Gpt2Rule<false>, Gpt2Starts<false>>({}); break;
    case Splitter::gpt2_digits: count = fill_by_starts<Gpt2Rule<true>, Gpt2Starts<true>>({}); break;
    case Splitter::cl100k: count = fill_by_starts<Cl100kRule<3>, Cl100kStarts<3>>({}); break;
    case Splitter::cl100k_digit: count = fill_by_starts<Cl100kRule<1>, Cl100kStarts<1>>({}); break;
    case Splitter::o200k: count = fill_by_starts<O200kRule<3, true>, O200kStarts<3, true>>({}); break;
    case Splitter::tekken: count = fill_by_starts<O200kRule<1, false>, O200kStarts<1, false>>({}); break;
    case Splitter::deepseek: count = fill(DeepseekRule{}); break;
  }
  return {ends_.data(), count};
}

namespace {

std::size_t uniform_classes(const ClassTable& table, Classes& scratch, std::string_view text, bool first) {
  std::size_t at = 0;
  std::uint8_t kind = 0;
  if (first && !text.empty()) at = decode(text).length;
  while (at < text.size()) {
    std::size_t end = std::min(text.size(), at + usual_window);
    while (end < text.size() && end > at + 4 && is_continuation(text[end])) --end;
    scratch.reserve(end - at);
    classify()(text.substr(at, end - at), table, scratch);
    if (kind == 0) kind = scratch.at(0);
    for (std::size_t i = 0; i < end - at; ++i) {
      if ((scratch.at(i) & ~cls::inner) != kind) return at + i;
    }
    at = end;
  }
  return at;
}

}  // namespace

std::size_t uniform_front(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool first) {
  const auto by = [&](const auto& classes) {
    const ClassTable table = ClassTable::of(classes);
    return uniform_classes(table, scratch, text, first);
  };
  switch (pre.splitter) {
    case Splitter::whole: return text.size();
    case Splitter::regex: return 0;
    case Splitter::seams: {
      std::size_t end = 1;
      const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
      while (end < text.size() &&
             (pre.seams.joined(bytes[end - 1], bytes[end]) || (bytes[end] & 0xC0) == 0x80))
        ++end;
      return std::min(end, text.size());
    }
    case Splitter::o200k:
    case Splitter::tekken: return by(O200kRule<1, false>::classes());
    case Splitter::deepseek: return by(DeepseekRule::classes());
    default: return by(Cl100kRule<1>::classes());
  }
}

}  // namespace plimsoll::count
