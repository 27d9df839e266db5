#include <algorithm>
#include <optional>

#include "plimsoll/count.hpp"
#include "count/normalize.hpp"
#include "count/tokenizer_impl.hpp"
#include "count/unicode.hpp"

namespace plimsoll {

using count::no_token;

struct Counter::State {
  Tokenizer tokenizer;
  Specials specials;
  std::string tail;              // what may still be cut otherwise; all before it is in `closed`
  Tokens closed = 0;
  bool at_front = true;          // nothing was closed yet
  std::size_t looked_at = 0;     // size of the tail when it was last tried in vain
  mutable std::optional<Tokens> total;

  // Closes as much of the tail as no further text can change. Looking costs the tail's length, so a
  // tail that yields nothing is left alone until it has doubled: appending stays linear.
  void settle() {
    if (tail.size() < looked_at * 2) return;
    const Tokenizer::Impl& impl = tokenizer.impl();
    Tokenizer::Impl::Borrowed scratch(impl);
    const std::size_t open_added = impl.finder.undecided_tail(specials);
    std::size_t decided = tail.size() - std::min(tail.size(), open_added + count::incomplete_tail(tail));
    std::size_t done = 0;
    while (done < decided) {
      const std::string_view rest = std::string_view(tail).substr(done);
      const count::AddedMatch match = impl.finder.idle(specials) ? count::AddedMatch{rest.size(), rest.size(), no_token}
                                                                   : impl.finder.find(rest, 0, specials);
      if (match.index != no_token && done + match.end <= decided) {
        // Text before an added token ends there for good.
        closed += impl.count(rest.substr(0, match.begin), Specials::plain, Tokenizer::Impl::no_limit, at_front, *scratch) + 1;
        done += match.end;
        at_front = false;
        continue;
      }
      done += settle_text(rest.substr(0, std::min(match.begin, decided - done)), *scratch);
      break;
    }
    tail.erase(0, done);
    looked_at = done == 0 ? tail.size() : 0;
  }

  // Counts the pieces of open text that stand; gives the bytes they take.
  std::size_t settle_text(std::string_view text, Tokenizer::Impl::Scratch& scratch) {
    const Tokenizer::Impl& impl = tokenizer.impl();
    const auto& normalizer = impl.compiled.config.normalizer;
    const std::string_view part = text.substr(0, count::normalization_border(normalizer, text));
    const std::string_view cut = count::normalize(normalizer, part, at_front, scratch.normalized);
    const std::size_t prefix = cut.size() == part.size() + 1 && cut.substr(1) == part ? 1 : 0;
    // Where normalising changes text, a piece's end has no place of its own in it: close all or nothing.
    if (prefix == 0 && cut != part) return 0;
    count::PieceWalk walk(impl.pre, scratch.classes, cut, true);
    std::size_t begin = 0;
    Tokens counted = 0;
    for (auto ends = walk.next(); !ends.empty(); ends = walk.next()) {
      counted += impl.count_batch(cut, begin, ends, scratch);
      begin = walk.position();
    }
    if (begin <= prefix) return 0;  // nothing but the space that was put in front
    closed += counted;
    at_front = false;
    return begin - prefix;
  }
};

Counter::Counter(Tokenizer tokenizer, Specials specials) : state_(new State{std::move(tokenizer), specials, {}, 0, true, 0, {}}) {}
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
  if (!state_->total) {
    const Tokenizer::Impl& impl = state_->tokenizer.impl();
    Tokenizer::Impl::Borrowed scratch(impl);
    state_->total = state_->closed + impl.count(state_->tail, state_->specials, Tokenizer::Impl::no_limit, state_->at_front, *scratch);
  }
  return *state_->total;
}

}  // namespace plimsoll
