#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/try.hpp"
#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

// Orders by value, highest first, earlier pieces first among equals. NaN comes last.
std::vector<std::uint32_t> by_value(std::span<const Piece> pieces) {
  std::vector<std::pair<double, std::uint32_t>> keys(pieces.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const double value = pieces[i].value;
    keys[i] = {std::isnan(value) ? std::numeric_limits<double>::infinity() : -value, i};
  }
  std::ranges::sort(keys);
  std::vector<std::uint32_t> order(keys.size());
  std::ranges::transform(keys, order.begin(), &std::pair<double, std::uint32_t>::second);
  return order;
}

// The grants while pieces are placed. A section that needs more than its grant takes tokens that were not
// granted, then tokens that others cannot fill, so the grants together never exceed the window.
class Hold {
 public:
  Hold(std::span<const Section> sections, Shares shares)
      : sections_(sections), grants_(std::move(shares.grants)), used_(grants_), free_(shares.left) {}

  // Finds the section of this kind; none: there is none.
  std::optional<std::size_t> find(SectionKind kind) const {
    const auto found = std::ranges::find(sections_, kind, &Section::kind);
    if (found == sections_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - sections_.begin());
  }

  const Section& section(std::size_t at) const { return sections_[at]; }
  Tokens grant(std::size_t at) const { return grants_[at]; }
  Tokens used(std::size_t at) const { return used_[at]; }
  void set_used(std::size_t at, Tokens tokens) { used_[at] = tokens; }

  // Returns what the section could use without taking used tokens.
  Tokens within_reach(std::size_t at) const {
    Tokens reach = grants_[at] + free_;
    for (std::size_t i = 0; i < grants_.size(); ++i) reach += i == at ? 0 : grants_[i] - used_[i];
    return std::min(reach, sections_[at].max);
  }

  void raise_to(std::size_t at, Tokens tokens) {
    used_[at] = tokens;
    Tokens missing = tokens - grants_[at];
    if (missing <= 0) return;
    grants_[at] = tokens;
    const Tokens from_free = std::min(missing, free_);
    free_ -= from_free;
    missing -= from_free;
    for (std::size_t i = 0; i < grants_.size() && missing > 0; ++i) {
      if (i == at) continue;
      const Tokens given = std::min(missing, grants_[i] - used_[i]);
      grants_[i] -= given;
      missing -= given;
    }
  }

  Placement finish(Tokens window) && {
    Placement placement;
    placement.left = std::accumulate(used_.begin(), used_.end(), window, std::minus<>());
    placement.grants = std::move(grants_);
    placement.used = std::move(used_);
    return placement;
  }

 private:
  std::span<const Section> sections_;
  std::vector<Tokens> grants_;
  std::vector<Tokens> used_;
  Tokens free_;
};

// Places pieces by value into one section. A piece that does not fit at first may fit later.
class ByValue {
 public:
  ByValue(std::span<const Piece> pieces, Tokens frame, std::int64_t most)
      : pieces_(pieces),
        waiting_(by_value(pieces)),
        frame_(frame),
        places_(most),
        fates_(pieces.size(), Fate::no_room) {}

  void fill(Hold& hold, std::size_t section, Tokens up_to) {
    Tokens used = hold.used(section);
    std::vector<std::uint32_t> still_waiting;
    for (const std::uint32_t i : waiting_) {
      const Tokens tokens = pieces_[i].tokens + frame_;
      const bool kept = places_ > 0 && tokens <= up_to - used;
      if (!kept) {
        fates_[i] = places_ > 0 ? Fate::no_room : Fate::over_limit;
        still_waiting.push_back(i);
        continue;
      }
      fates_[i] = Fate::kept;
      used += tokens;
      frame_ = 0;  // counted now
      --places_;
    }
    waiting_ = std::move(still_waiting);
    hold.raise_to(section, used);
  }

  std::vector<Fate> take_fates() { return std::move(fates_); }

 private:
  std::span<const Piece> pieces_;
  std::vector<std::uint32_t> waiting_;
  Tokens frame_;
  std::int64_t places_;
  std::vector<Fate> fates_;
};

std::vector<Fate> fill_history(Hold& hold, std::size_t section, const Load& load) {
  const std::size_t count = load.turns.size();
  const auto most = static_cast<std::size_t>(
      std::clamp<std::int64_t>(load.most_turns, 0, static_cast<std::int64_t>(count)));
  const std::size_t allowed = count - most;
  const auto kept_from = [&](std::size_t first) { return std::span(load.turns).subspan(first); };
  std::size_t first = allowed;
  const Tokens grant = hold.grant(section) - load.summary;
  if (sum_of(kept_from(allowed)) > grant) first = std::max(allowed, first_turn_kept(load.turns, grant));
  std::vector<Fate> fates(count, Fate::kept);
  for (std::size_t i = 0; i < first; ++i) fates[i] = i < allowed ? Fate::over_limit : Fate::too_old;
  hold.set_used(section, load.summary + sum_of(kept_from(first)));
  return fates;
}

// Gives free tokens to reserves that were cut, then to those that may grow.
void fill_reserves(Hold& hold) {
  const auto thinking = hold.find(SectionKind::thinking);
  const auto answer = hold.find(SectionKind::answer);
  for (const auto& reserve : {answer, thinking})
    if (reserve)
      hold.raise_to(*reserve, std::max(hold.used(*reserve),
                                       std::min(hold.within_reach(*reserve), hold.section(*reserve).basis)));
  if (answer && hold.section(*answer).grow > 0) hold.raise_to(*answer, hold.within_reach(*answer));
}

}  // namespace

Tokens sum_of(std::span<const Piece> pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), Tokens{0},
                         [](Tokens sum, const Piece& piece) { return sum + piece.tokens; });
}

std::size_t first_turn_kept(std::span<const Piece> turns, Tokens grant) {
  const Tokens total = sum_of(turns);
  if (total <= grant) return 0;
  const Tokens excess = total - std::max<Tokens>(grant, 0);
  const auto quarter = static_cast<std::uint64_t>(std::max<Tokens>(grant / 4, 1));
  const auto step = static_cast<Tokens>(
      std::bit_floor(quarter));  // a power of two, so that small changes of the grant do not matter
  // A cut may be at the first turn that starts at or after a multiple of the step. These positions, counted
  // from the start of the conversation, do not change when turns are added at its end.
  std::size_t least = turns.size();  // the cut that removes just enough
  Tokens before = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Tokens begin = before + turns[i].tokens;
    const bool steps = begin / step > before / step;
    before = begin;
    if (before < excess) continue;
    least = std::min(least, i + 1);
    if (before > excess + step) break;  // a long turn would remove too much
    if (steps && i + 1 < turns.size()) return i + 1;
  }
  return least;
}

Result<Placement> fill(Tokens window, const Load& load) {
  TRY(Shares shares, negotiate(window, load.sections));
  Hold hold(load.sections, std::move(shares));
  const auto memory = hold.find(SectionKind::memory);
  const auto history = hold.find(SectionKind::history);
  const auto context = hold.find(SectionKind::context);
  for (const auto& of_pieces : {memory, history, context})
    if (of_pieces) hold.set_used(*of_pieces, 0);

  ByValue facts(load.facts, load.facts_frame, std::numeric_limits<std::int64_t>::max());
  ByValue passages(load.passages, load.passages_frame, load.most_passages);
  if (memory) facts.fill(hold, *memory, hold.grant(*memory));
  std::vector<Fate> turns(load.turns.size(), Fate::too_old);
  if (history) turns = fill_history(hold, *history, load);
  if (context) passages.fill(hold, *context, hold.grant(*context));

  if (context) passages.fill(hold, *context, hold.within_reach(*context));
  if (memory) facts.fill(hold, *memory, hold.within_reach(*memory));
  fill_reserves(hold);

  Placement placement = std::move(hold).finish(window);
  placement.facts = facts.take_fates();
  placement.turns = std::move(turns);
  placement.passages = passages.take_fates();
  return placement;
}

ShadowPrice shadow_price(const Load& load, const Placement& now, Tokens then_window, const Load& then) {
  ShadowPrice price;
  const auto placed = fill(std::max<Tokens>(0, then_window), then);
  price.fits = placed.has_value();
  if (!placed) return price;
  const auto compare = [&](std::vector<Fate> Placement::*fates, std::vector<std::size_t> PieceList::*list) {
    for (std::size_t i = 0; i < (now.*fates).size(); ++i) {
      const bool before = (now.*fates)[i] == Fate::kept, after = ((*placed).*fates)[i] == Fate::kept;
      if (before != after) ((after ? price.added : price.gone).*list).push_back(i);
    }
  };
  compare(&Placement::facts, &PieceList::facts);
  compare(&Placement::turns, &PieceList::turns);
  compare(&Placement::passages, &PieceList::passages);
  for (std::size_t i = 0; i < load.sections.size(); ++i) {
    const SectionKind kind = load.sections[i].kind;
    if (kind == SectionKind::answer) price.answer = placed->used[i] - now.used[i];
    if (kind == SectionKind::thinking) price.thinking = placed->used[i] - now.used[i];
  }
  return price;
}

}  // namespace plimsoll::budget
