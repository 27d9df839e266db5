#include <algorithm>
#include <memory>
#include <optional>

#include "count/bpe_run.hpp"
#include "count/split/align.hpp"
#include "count/split/normalize.hpp"
#include "count/split/unicode.hpp"
#include "count/tokenizer_impl.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll {

using count::no_token;

struct Counter::State {
  // A tail of this size without an end is one giant piece, and is encoded as it arrives.
  static constexpr std::size_t giant = std::size_t{1} << 20;
  // Bytes held back: the rule that ends it needs only its last characters.
  static constexpr std::size_t held_back = 512;

  State(Tokenizer own, Specials policy) : tokenizer(std::move(own)), specials(policy) {}

  Tokenizer tokenizer;
  Specials specials;
  std::string tail;  // text whose division may still change; all text before it is in `closed` or `run`
  Tokens closed = 0;
  count::Place place = count::Place::text_front;  // start of the tail
  std::size_t looked_at = 0;                      // size of the tail at the last unsuccessful attempt
  std::unique_ptr<count::BpeRun> run;             // a giant piece that has not ended yet
  bool exact = true;
  mutable std::optional<Tokens> total;

  // Closes the part of the tail that no further text can change. This costs the tail's length, so after an
  // unsuccessful attempt it waits until the tail has doubled: appending stays linear.
  void settle() {
    if (!run && tail.size() < looked_at * 2) return;
    const Tokenizer::Impl& impl = tokenizer.impl();
    Tokenizer::Impl::Borrowed scratch(impl);
    if (run) {
      if (!go_on(*scratch)) return;
    } else if (tail.size() >= giant && begin_run(*scratch)) {
      return;
    }
    const std::size_t open_added = impl.finder.undecided_tail(specials);
    std::size_t decided = tail.size() - std::min(tail.size(), open_added + count::incomplete_tail(tail));
    std::size_t done = 0;
    while (done < decided) {
      const std::string_view rest = std::string_view(tail).substr(done);
      const count::AddedMatch match = first_added(rest);
      if (match.index != no_token && done + match.end <= decided) {
        // Text before an added token is final.
        closed += impl.count(rest.substr(0, match.begin), Specials::plain, Tokenizer::Impl::no_limit, place,
                             *scratch) +
                  1;
        done += match.end;
        place = count::Place::segment_front;
        continue;
      }
      done += settle_text(rest.substr(0, std::min(match.begin, decided - done)), *scratch);
      break;
    }
    tail.erase(0, done);
    looked_at = done == 0 ? tail.size() : 0;
  }

  count::AddedMatch first_added(std::string_view text) const {
    const auto& finder = tokenizer.impl().finder;
    return finder.idle(specials) ? count::AddedMatch{text.size(), text.size(), no_token}
                                 : finder.find(text, 0, specials);
  }

  // Starts a run with all of the tail except its end, if possible.
  bool begin_run(Tokenizer::Impl::Scratch& scratch) {
    const Tokenizer::Impl& impl = tokenizer.impl();
    const count::Bpe* bpe = impl.model.streamable();
    if (bpe == nullptr || !is_one_run(true, scratch)) return false;
    const auto prefix = prefix_of_run(scratch);
    if (!prefix) return false;
    run = std::make_unique<count::BpeRun>(*bpe, impl.compiled.config.longest_token);
    run->feed(*prefix, scratch.model.bpe);
    feed_run(scratch);
    return true;
  }

  // Returns what normalisation adds before the tail; none if that would be a separate piece.
  std::optional<std::string> prefix_of_run(Tokenizer::Impl::Scratch& scratch) const {
    const Tokenizer::Impl& impl = tokenizer.impl();
    std::size_t size = held_back;
    while (count::is_continuation(tail[size])) --size;
    const std::string_view front = std::string_view(tail).substr(0, size);
    const std::string_view cut =
        count::normalize(impl.compiled.config.normalizer, front, place, scratch.normalized);
    if (!cut.ends_with(front)) return std::nullopt;
    if (cut.size() != front.size() &&
        count::uniform_front(impl.pre, scratch.classes, cut, true) != cut.size())
      return std::nullopt;
    return std::string(cut.substr(0, cut.size() - front.size()));
  }

  // Returns whether the tail has only one class, no added token, and is not changed by normalisation.
  bool is_one_run(bool first, Tokenizer::Impl::Scratch& scratch) const {
    const Tokenizer::Impl& impl = tokenizer.impl();
    if (first_added(tail).index != no_token) return false;
    if (count::normalize(impl.compiled.config.normalizer, tail, count::Place::inside, scratch.normalized) !=
        tail)
      return false;
    return count::uniform_front(impl.pre, scratch.classes, tail, first) == tail.size();
  }

  void feed_run(Tokenizer::Impl::Scratch& scratch) {
    const std::size_t keep = std::max(held_back, 2 * tokenizer.impl().finder.undecided_tail(specials));
    if (tail.size() <= 2 * keep) return;
    std::size_t size = tail.size() - keep;
    while (size > 0 && count::is_continuation(tail[size])) --size;
    run->feed(std::string_view(tail).substr(0, size), scratch.model.bpe);
    tail.erase(0, size);
    place = count::Place::inside;
  }

  // True: the run has ended, and the tail starts after it.
  bool go_on(Tokenizer::Impl::Scratch& scratch) {
    if (is_one_run(false, scratch)) return feed_run(scratch), false;
    const Tokenizer::Impl& impl = tokenizer.impl();
    const count::AddedMatch match = first_added(tail);
    const bool cut_short = match.index != no_token;
    const std::string_view text = std::string_view(tail).substr(0, match.begin);
    count::PieceWalk walk(impl.pre, scratch.classes, text, !cut_short);
    const auto ends = walk.next();
    if (ends.empty()) return false;
    end_run(ends.front(), scratch);
    return true;
  }

  void end_run(std::size_t size, Tokenizer::Impl::Scratch& scratch) {
    run->feed(std::string_view(tail).substr(0, size), scratch.model.bpe);
    closed += static_cast<Tokens>(run->finish(scratch.model.bpe));
    exact = exact && run->exact();
    run.reset();
    tail.erase(0, size);
    looked_at = 0;
  }

  // The same if normalisation changed the text: up to the last piece that ends where the original text can be
  // divided too.
  std::size_t settle_changed(std::string_view part, std::string_view cut, Tokenizer::Impl::Scratch& scratch) {
    const Tokenizer::Impl& impl = tokenizer.impl();
    const count::Alignment alignment(impl.compiled.config.normalizer, part, place);
    count::PieceWalk walk(impl.pre, scratch.classes, cut, true);
    std::size_t begin = 0;
    std::size_t settled = 0;
    Tokens counted = 0;
    Tokens counted_settled = 0;
    for (auto ends = walk.next(); !ends.empty(); ends = walk.next()) {
      for (const std::size_t end : ends) {
        counted += impl.count_piece(cut.substr(begin, end - begin), scratch);
        begin = end;
        const auto border = alignment.border(end);
        if (!border) continue;
        settled = *border;
        counted_settled = counted;
      }
    }
    closed += counted_settled;
    if (settled > 0) place = count::Place::inside;
    return settled;
  }

  // Counts the final pieces of open text; returns their bytes.
  std::size_t settle_text(std::string_view text, Tokenizer::Impl::Scratch& scratch) {
    const Tokenizer::Impl& impl = tokenizer.impl();
    const auto& normalizer = impl.compiled.config.normalizer;
    const std::string_view part = text.substr(0, count::normalization_border(normalizer, text));
    const std::string_view cut = count::normalize(normalizer, part, place, scratch.normalized);
    const std::size_t prefix = cut.size() == part.size() + 1 && cut.substr(1) == part ? 1 : 0;
    if (prefix == 0 && cut != part) return settle_changed(part, cut, scratch);
    count::PieceWalk walk(impl.pre, scratch.classes, cut, true);
    std::size_t begin = 0;
    Tokens counted = 0;
    for (auto ends = walk.next(); !ends.empty(); ends = walk.next()) {
      counted += impl.count_batch(cut, begin, ends, scratch);
      begin = walk.position();
    }
    if (begin <= prefix) return 0;  // only the added prefix space
    closed += counted;
    place = count::Place::inside;
    return begin - prefix;
  }
};

Counter::Counter(Tokenizer tokenizer, Specials specials)
    : state_(std::make_unique<State>(std::move(tokenizer), specials)) {}
Counter::~Counter() = default;
Counter::Counter(Counter&&) noexcept = default;
Counter& Counter::operator=(Counter&&) noexcept = default;

void Counter::append(std::string_view text) {
  if (text.empty()) return;
  state_->tail += text;
  state_->total.reset();
  state_->settle();
}

Tokens Counter::total() const {
  if (state_->total) return *state_->total;
  const State& state = *state_;
  const Tokenizer::Impl& impl = state.tokenizer.impl();
  Tokenizer::Impl::Borrowed scratch(impl);
  Tokens total = state.closed;
  std::string_view rest = state.tail;
  if (state.run) {
    // As if the text ended here: the run includes the first piece of the tail.
    const std::size_t border = state.first_added(rest).begin;
    count::PieceWalk walk(impl.pre, (*scratch).classes, rest.substr(0, border));
    const auto ends = walk.next();
    const std::size_t size = ends.empty() ? 0 : ends.front();
    count::BpeRun ended = *state.run;
    ended.feed(rest.substr(0, size), (*scratch).model.bpe);
    total += static_cast<Tokens>(ended.finish((*scratch).model.bpe));
    rest.remove_prefix(size);
  }
  state_->total = total + impl.count(rest, state.specials, Tokenizer::Impl::no_limit, state.place, *scratch);
  return *state_->total;
}

bool Counter::exact() const {
  return state_->exact && (!state_->run || state_->run->exact());
}

}  // namespace plimsoll
