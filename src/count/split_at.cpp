#include <algorithm>
#include <deque>

#include "count/split/normalize.hpp"
#include "count/split/unicode.hpp"
#include "count/tokenizer_impl.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll {
namespace {

using count::no_token;

// Truncating a text can change the division of its last two pieces, but not of earlier ones; one more
// is kept to be safe.
constexpr std::size_t pieces_kept = 4;
// Up to this size every position in a piece is tried; in a longer one the counts of its prefixes are used.
constexpr std::size_t try_each_limit = 4096;

bool ends_a_character(std::string_view text, std::size_t at) {
  return at >= text.size() || !count::is_continuation(text[at]);
}

struct Checkpoint {
  std::size_t begin;
  Tokens before;  // tokens before this piece
};

}  // namespace

std::size_t Tokenizer::split_at(std::string_view text, Tokens limit, Specials specials) const {
  if (limit <= 0) return 0;
  Impl::Borrowed scratch(*impl_);
  const auto& normalizer = impl_->compiled.config.normalizer;
  Tokens total = 0;
  std::size_t answer = text.size();

  impl_->each_segment(text, specials, [&](const Impl::Segment& segment) {
    if (segment.added != no_token) {
      if (total + 1 <= limit) return ++total, true;
      answer = segment.begin;
      return false;
    }
    const std::string_view part = text.substr(segment.begin, segment.end - segment.begin);
    const count::Place front = segment.begin == 0 ? count::Place::text_front : count::Place::segment_front;
    const auto count_prefix = [&](std::size_t from, std::size_t size) {
      // Counting from a piece's start gives the same as in the text: splitting never looks back.
      return impl_->count(part.substr(from, size - from), Specials::plain, Impl::no_limit,
                          from == 0 ? front : count::Place::inside, *scratch);
    };
    const std::string_view cut = count::normalize(normalizer, part, front, (*scratch).normalized);
    const bool unchanged = cut.data() == part.data() && cut.size() == part.size();

    std::deque<Checkpoint> kept{{0, total}};
    std::size_t passed = part.size() + 1;  // end of the piece that exceeds the limit
    std::size_t last = 0;                  // end of the next piece: no longer prefix can fit
    if (unchanged) {
      count::PieceWalk walk(impl_->pre, (*scratch).classes, part);
      std::vector<std::size_t> ends;
      std::size_t begin = 0;
      for (auto batch = walk.next(); !batch.empty() && last == 0; batch = walk.next()) {
        for (const std::size_t end : batch) {
          if (passed <= part.size()) {
            last = end;
            break;
          }
          kept.push_back({begin, total});
          if (kept.size() > pieces_kept) kept.pop_front();
          total += impl_->count_piece(part.substr(begin, end - begin), *scratch);
          if (total > limit) passed = end;
          begin = end;
        }
      }
    } else {
      total += count_prefix(0, part.size());
      if (total > limit) passed = part.size();
    }
    if (total <= limit) return true;
    if (last == 0) last = unchanged ? passed : part.size();

    const Checkpoint from = kept.front();
    const auto fits = [&](std::size_t size) { return from.before + count_prefix(from.begin, size) <= limit; };
    if (last - from.begin > try_each_limit) {
      // Binary search; counts of prefixes are monotonic except for a token or two at the end.
      std::size_t low = from.begin;
      std::size_t high = last;
      while (high - low > 64) {
        const std::size_t middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
      }
      last = std::min(last, high + 64);
    }
    while (last > from.begin && !(ends_a_character(part, last) && fits(last))) --last;
    answer = segment.begin + last;
    return false;
  });
  return answer;
}

}  // namespace plimsoll
