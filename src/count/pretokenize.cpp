#include "count/pretokenize.hpp"

#include <algorithm>

#include "count/regex_split.hpp"
#include "count/scan.hpp"
#include "count/unicode.hpp"

namespace plimsoll::count {
namespace {

// Small enough that text, classes and masks of one stretch stay in the first-level cache.
constexpr std::size_t usual_window = 8192;
// A rule looks at most this far past the end of the piece it gives, unless it says so.
constexpr std::size_t look_ahead = 8;

}  // namespace

std::string_view name_of(Splitter splitter) {
  static constexpr std::array<std::string_view, splitter_count> names{
      "whole", "seams", "gpt2", "gpt2, digits apart", "cl100k", "cl100k, digits apart", "o200k", "tekken", "deepseek", "regex"};
  return names[static_cast<std::size_t>(splitter)];
}

PieceWalk::PieceWalk(const PreTokenizer& pre, Classes& scratch, std::string_view text, bool open)
    : pre_(pre), classes_(scratch), classify_(classify()), text_(text), open_(open), window_size_(usual_window) {
  if (pre.splitter == Splitter::regex && !open) regex_ends_ = pre.regex->split(text);
}

// Classifies the next stretch, from the first piece not given yet. False: there is nothing left to see.
bool PieceWalk::slide() {
  if (window_end_ == text_.size() && window_begin_ < window_end_) return false;
  // A piece that did not fit gets a window twice as long: the text is read at most twice over.
  window_size_ = window_end_ != 0 && position_ == window_begin_ ? window_size_ * 2 : usual_window;
  window_begin_ = position_;
  window_end_ = std::min(text_.size(), window_begin_ + window_size_);
  while (window_end_ < text_.size() && window_end_ > window_begin_ + 4 && is_continuation(text_[window_end_])) --window_end_;
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

std::size_t PieceWalk::fill_seams() {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text_.data());
  const std::size_t size = text_.size();
  std::size_t count = 0;
  std::size_t p = position_;
  while (p < size && count < ends_.size()) {
    std::size_t end = p + 1;
    while (end < size && (pre_.seams.joined(bytes[end - 1], bytes[end]) || (bytes[end] & 0xC0) == 0x80)) ++end;
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
      while (count < ends_.size() && regex_next_ < regex_ends_.size()) ends_[count++] = position_ = regex_ends_[regex_next_++];
      break;
    case Splitter::seams: count = fill_seams(); break;
    case Splitter::gpt2: count = fill(Gpt2Rule<false>{}); break;
    case Splitter::gpt2_digits: count = fill(Gpt2Rule<true>{}); break;
    case Splitter::cl100k: count = fill(Cl100kRule<3>{}); break;
    case Splitter::cl100k_digit: count = fill(Cl100kRule<1>{}); break;
    case Splitter::o200k: count = fill(O200kRule<3, true>{}); break;
    case Splitter::tekken: count = fill(O200kRule<1, false>{}); break;
    case Splitter::deepseek: count = fill(DeepseekRule{}); break;
  }
  return {ends_.data(), count};
}

}  // namespace plimsoll::count
