// Properties of the negotiator on random cases: 100,000 each, a tenth of that with sanitizers. Every test
// counts the cases that it exercised, so that none can pass vacuously.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <rapidcheck.h>

#include "base/sanitized.hpp"
#include "plimsoll/budget.hpp"

namespace plimsoll::budget {
namespace {

constexpr int cases = base::sanitized ? 10'000 : 100'000;

// RapidCheck takes its parameters from here when the first property is checked.
[[maybe_unused]] const bool configured =
    ::setenv("RC_PARAMS", ("seed=20 max_success=" + std::to_string(cases)).c_str(), 0) == 0;

Tokens sum(const std::vector<Tokens>& tokens) {
  return std::accumulate(tokens.begin(), tokens.end(), Tokens{0});
}

// The whole range from the first case on; RapidCheck's own begins small.
template <typename T>
rc::Gen<T> between(T least, T end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, end));
}

// Small numbers make ties and frozen sections common, large ones test the arithmetic.
rc::Gen<Tokens> any_tokens() {
  return rc::gen::weightedOneOf<Tokens>(
      {{6, between<Tokens>(0, 30)}, {3, between<Tokens>(0, 5'000)}, {1, between<Tokens>(0, 2'000'000)}});
}

rc::Gen<std::int64_t> any_weight() {
  return rc::gen::weightedOneOf<std::int64_t>({{2, rc::gen::just<std::int64_t>(0)},
                                               {5, between<std::int64_t>(1, 6)},
                                               {1, rc::gen::just(std::int64_t{heaviest})}});
}

rc::Gen<Section> any_section() {
  return rc::gen::map(rc::gen::tuple(any_tokens(), any_tokens(), any_tokens(), any_weight(), any_weight()),
                      [](const std::tuple<Tokens, Tokens, Tokens, std::int64_t, std::int64_t>& parts) {
                        const auto [min, wanted, growth, grow, shrink] = parts;
                        return Section{.kind = SectionKind::context,
                                       .basis = min + wanted,
                                       .min = min,
                                       .max = min + wanted + growth,
                                       .grow = grow,
                                       .shrink = shrink};
                      });
}

// Sections, and a window that is somewhere between too small for them and more than they can take.
struct Case {
  std::vector<Section> sections;
  Tokens window = 0;
};

rc::Gen<Case> any_case() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::resize(9, rc::gen::container<std::vector<Section>>(any_section())),
                     between(0, 1000)),
      [](std::tuple<std::vector<Section>, int> parts) {
        Case made{std::get<0>(std::move(parts)), 0};
        Tokens most = 10;
        for (const Section& section : made.sections) most += section.max;
        made.window = most * std::get<1>(parts) / 900;
        return made;
      });
}

std::ostream& operator<<(std::ostream& out, const Case& shown) {
  out << "window " << shown.window;
  for (const Section& section : shown.sections)
    out << "\nask min=" << section.min << " basis=" << section.basis << " max=" << section.max
        << " grow=" << section.grow << " shrink=" << section.shrink;
  return out;
}

Tokens wanted_by(const Case& of) {
  Tokens wanted = 0;
  for (const Section& section : of.sections) wanted += section.basis;
  return wanted;
}

TEST(Properties, TheSumIsExactAndNoBoundIsBroken) {
  int shrank = 0, grew = 0, refused = 0, frozen = 0, over = 0;
  EXPECT_TRUE(rc::check([&] {
    const Case of = *any_case();
    const auto shares = negotiate(of.window, of.sections);
    if (!shares) {
      ++refused;
      RC_ASSERT(shares.error().code == Errc::over_budget);
      RC_ASSERT(least_window(of.sections) > of.window);
      return;
    }
    (wanted_by(of) > of.window ? shrank : grew) += 1;
    RC_ASSERT(sum(shares->grants) + shares->left == of.window);
    RC_ASSERT(shares->left >= 0);
    over += shares->left > 0 ? 1 : 0;
    for (std::size_t i = 0; i < of.sections.size(); ++i) {
      const Section& section = of.sections[i];
      const Tokens grant = shares->grants[i];
      RC_ASSERT(grant >= section.min && grant <= section.max);
      if (section.shrink == 0) RC_ASSERT(grant >= section.basis);
      if (section.grow == 0) RC_ASSERT(grant <= section.basis);
      if (shares->left > 0) RC_ASSERT(grant == (section.grow > 0 ? section.max : section.basis));
      frozen += section.shrink > 0 && grant == section.min && section.min < section.basis ? 1 : 0;
    }
  }));
  EXPECT_GT(shrank, cases / 10);
  EXPECT_GT(grew, cases / 10);
  EXPECT_GT(refused, cases / 50);
  EXPECT_GT(frozen, cases / 50);
  EXPECT_GT(over, cases / 50);
}

TEST(Properties, ALargerWindowLowersNoGrant) {
  int compared = 0, crossed = 0;
  EXPECT_TRUE(rc::check([&] {
    const Case of = *any_case();
    const Tokens more = *between<Tokens>(1, 40);
    const auto before = negotiate(of.window, of.sections);
    if (!before) return;
    const auto after = negotiate(of.window + more, of.sections);
    RC_ASSERT(after.has_value());
    for (std::size_t i = 0; i < of.sections.size(); ++i) RC_ASSERT(after->grants[i] >= before->grants[i]);
    compared += sum(after->grants) > sum(before->grants) ? 1 : 0;
    crossed += wanted_by(of) > of.window && wanted_by(of) < of.window + more ? 1 : 0;
  }));
  EXPECT_GT(compared, cases / 4);
  EXPECT_GT(crossed, cases / 1000);
}

TEST(Properties, ALargerWantNeverLowersOnesOwnGrant) {
  int compared = 0, rose = 0;
  EXPECT_TRUE(rc::check([&] {
    Case of = *any_case();
    const Tokens more = *between<Tokens>(1, 40);
    if (of.sections.empty()) return;
    const auto who = *between<std::size_t>(0, of.sections.size());
    const auto before = negotiate(of.window, of.sections);
    of.sections[who].basis += more;
    of.sections[who].max = std::max(of.sections[who].max, of.sections[who].basis);
    const auto after = negotiate(of.window, of.sections);
    if (!before || !after) return;  // one that does not shrink may want more than there is
    RC_ASSERT(after->grants[who] >= before->grants[who]);
    ++compared;
    rose += after->grants[who] > before->grants[who] ? 1 : 0;
  }));
  EXPECT_GT(compared, cases / 3);
  EXPECT_GT(rose, cases / 10);
}

rc::Gen<std::vector<Piece>> any_pieces() {
  const auto piece = rc::gen::map(rc::gen::pair(between<Tokens>(0, 60), between(0, 5)),
                                  [](const std::pair<Tokens, int>& of) {
                                    return Piece{of.first, static_cast<double>(of.second)};
                                  });
  return rc::gen::resize(12, rc::gen::container<std::vector<Piece>>(piece));
}

Tokens kept_tokens(const std::vector<Piece>& pieces, const std::vector<Fate>& fates) {
  Tokens tokens = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) tokens += fates[i] == Fate::kept ? pieces[i].tokens : 0;
  return tokens;
}

Section reserve(SectionKind kind, Tokens min, Tokens more, Tokens growth, std::int64_t grow) {
  return {.kind = kind,
          .basis = min + more,
          .min = min,
          .max = min + more + growth,
          .grow = grow,
          .shrink = heaviest};
}

// A whole load: fixed parts, three sections of pieces, the reserves.
Load any_load() {
  Load load;
  load.facts = *any_pieces();
  load.turns = *any_pieces();
  load.passages = *any_pieces();
  if (*between(0, 4) == 0) load.most_turns = *between(0, 5);
  if (*between(0, 4) == 0) load.most_passages = *between(0, 5);
  const auto total = [](const std::vector<Piece>& pieces) {
    return std::accumulate(pieces.begin(), pieces.end(), Tokens{0},
                           [](Tokens all, const Piece& piece) { return all + piece.tokens; });
  };
  const auto of_pieces = [&](SectionKind kind, const std::vector<Piece>& pieces, Tokens basis) {
    const Tokens all = total(pieces);
    load.sections.push_back(
        {.kind = kind, .basis = std::min(basis, all), .min = 0, .max = all, .grow = 1, .shrink = 1});
  };
  const Tokens fixed = *between<Tokens>(0, 100);
  load.sections.push_back({.kind = SectionKind::system, .basis = fixed, .min = fixed, .max = fixed});
  of_pieces(SectionKind::memory, load.facts, most_tokens);
  of_pieces(SectionKind::history, load.turns, most_tokens);
  of_pieces(SectionKind::context, load.passages, *between<Tokens>(0, 400));
  load.sections.push_back(reserve(SectionKind::thinking, 0, *between<Tokens>(0, 50), 0, 0));
  load.sections.push_back(reserve(SectionKind::answer, *between<Tokens>(0, 50), *between<Tokens>(0, 80),
                                  *between<Tokens>(0, 400), *between<std::int64_t>(0, 2)));
  load.sections.push_back({.kind = SectionKind::margin, .basis = 10, .min = 10, .max = 10});
  return load;
}

TEST(Properties, TheLawHoldsAndFatesExplainEveryToken) {
  int placed = 0, cut = 0, whole = 0;
  EXPECT_TRUE(rc::check([&] {
    const Load load = any_load();
    const Tokens window = *between<Tokens>(0, 1'600);
    const auto placement = fill(window, load);
    if (!placement) {
      RC_ASSERT(least_window(load.sections) > window);
      return;
    }
    ++placed;
    RC_ASSERT(sum(placement->used) + placement->left == window);
    RC_ASSERT(placement->left >= 0);
    RC_ASSERT(sum(placement->grants) <= window);
    for (std::size_t i = 0; i < load.sections.size(); ++i) {
      const Section& section = load.sections[i];
      const Tokens used = placement->used[i];
      RC_ASSERT(used <= placement->grants[i] && used <= section.max);
      if (section.kind == SectionKind::memory) RC_ASSERT(used == kept_tokens(load.facts, placement->facts));
      if (section.kind == SectionKind::history) RC_ASSERT(used == kept_tokens(load.turns, placement->turns));
      if (section.kind == SectionKind::context)
        RC_ASSERT(used == kept_tokens(load.passages, placement->passages));
      if (!is_input(section.kind)) RC_ASSERT(used >= section.min);
    }
    // History is a suffix: nothing newer is cut than what stays.
    RC_ASSERT(std::ranges::is_sorted(placement->turns, {}, [](Fate fate) { return fate == Fate::kept; }));
    // No passage or fact waits for room that is there.
    for (std::size_t i = 0; i < load.passages.size(); ++i)
      RC_ASSERT(placement->passages[i] != Fate::no_room || load.passages[i].tokens > placement->left);
    for (std::size_t i = 0; i < load.facts.size(); ++i)
      RC_ASSERT(placement->facts[i] != Fate::no_room || load.facts[i].tokens > placement->left);
    const auto all_kept = [](const std::vector<Fate>& fates) {
      return std::ranges::count(fates, Fate::kept) == std::ssize(fates);
    };
    (all_kept(placement->facts) && all_kept(placement->turns) && all_kept(placement->passages) ? whole
                                                                                               : cut) += 1;
  }));
  EXPECT_GT(placed, cases / 2);
  EXPECT_GT(cut, cases / 5);
  EXPECT_GT(whole, cases / 20);
}

TEST(Properties, ShadowPricesAreWhatReallyHappens) {
  int changed = 0, broke = 0;
  EXPECT_TRUE(rc::check([&] {
    const Load load = any_load();
    const Tokens window = *between<Tokens>(0, 1'600);
    const Tokens change = *between<Tokens>(-300, 300);
    const auto now = fill(window, load);
    if (!now) return;
    const ShadowPrice price = shadow_price(load, *now, window + change, load);
    const auto then = fill(std::max<Tokens>(0, window + change), load);
    RC_ASSERT(price.fits == then.has_value());
    if (!then) {
      ++broke;
      return;
    }
    // The pieces of now, without the dropped ones and with the added ones, are the pieces of then.
    const auto applied = [](const std::vector<Fate>& fates, const std::vector<std::size_t>& aboard,
                            const std::vector<std::size_t>& gone) {
      std::vector<bool> kept;
      for (const Fate fate : fates) kept.push_back(fate == Fate::kept);
      for (const std::size_t i : gone) kept[i] = false;
      for (const std::size_t i : aboard) kept[i] = true;
      return kept;
    };
    RC_ASSERT(applied(now->facts, price.added.facts, price.gone.facts) == applied(then->facts, {}, {}));
    RC_ASSERT(applied(now->turns, price.added.turns, price.gone.turns) == applied(then->turns, {}, {}));
    RC_ASSERT(applied(now->passages, price.added.passages, price.gone.passages) ==
              applied(then->passages, {}, {}));
    changed += price.added.passages.empty() && price.gone.passages.empty() ? 0 : 1;
  }));
  EXPECT_GT(changed, cases / 10);
  EXPECT_GT(broke, cases / 500);
}

}  // namespace
}  // namespace plimsoll::budget
