#include "reports/plan_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "budget/apportion.hpp"
#include "engine/plan/explain.hpp"

namespace plimsoll {
namespace {

using base::with_thousands;

// How a section is drawn: one of 256 colours, or a letter without colours.
struct Look {
  int colour;
  char letter;
};
constexpr std::array<Look, section_kinds> looks{{{244, 'f'},
                                                 {33, 's'},
                                                 {38, 'o'},
                                                 {141, 'm'},
                                                 {75, 'h'},
                                                 {78, 'c'},
                                                 {220, 'q'},
                                                 {180, 't'},
                                                 {208, 'a'},
                                                 {160, 'x'}}};

constexpr std::size_t longest_id = 60;

const Look& look_of(SectionKind kind) {
  return looks[static_cast<std::size_t>(kind)];
}

std::string coloured(const Terminal& terminal, int colour, std::string_view text) {
  return terminal.colour ? fmt::format("\033[38;5;{}m{}\033[0m", colour, text) : std::string(text);
}

std::string legend(const Plan& plan, const Terminal& terminal) {
  const std::size_t width = drawing_width(terminal);
  std::string out, plain;
  const auto add = [&](std::string_view mark, int colour, std::string_view name, Tokens tokens) {
    const std::string entry = fmt::format("{} {} {}", mark, name, with_thousands(tokens));
    if (!plain.empty() && display_width(plain) + 3 + display_width(entry) > width) {
      out += '\n';
      plain.clear();
    }
    if (!plain.empty()) out += "   ";
    plain += (plain.empty() ? "" : "   ") + entry;
    out += coloured(terminal, colour, mark) + entry.substr(mark.size());
  };
  for (const PlannedSection& planned : plan.sections) {
    if (planned.used == 0) continue;
    const Look& look = look_of(planned.section.kind);
    add(terminal.colour ? "█" : std::string_view(&look.letter, 1), look.colour, name_of(planned.section.kind),
        planned.used);
  }
  if (plan.left > 0) add("·", 240, "free", plan.left);
  return out + "\n";
}

std::string section_table(const Plan& plan, const Terminal& terminal) {
  Table table{{"SECTION", "WANTS", "LEAST", "MOST", "GRANTED", "USED"},
              {false, true, true, true, true, true},
              {},
              true};
  Tokens least = 0;
  for (const PlannedSection& planned : plan.sections) {
    const Section& section = planned.section;
    least += budget::least_of(section);
    if (section.max == 0 && planned.used == 0) continue;
    table.rows.push_back({std::string(name_of(section.kind)), with_thousands(section.basis),
                          with_thousands(budget::least_of(section)), with_thousands(section.max),
                          with_thousands(planned.grant), with_thousands(planned.used)});
  }
  const Tokens all = plan.input + plan.thinking + plan.answer + plan.margin;
  // Plans of sent requests have no least window.
  table.rows.push_back(
      {"total", "", with_thousands(plan.least > 0 ? plan.least : least), "", "", with_thousands(all)});
  return draw(table, terminal);
}

// Lists the pieces left out; neighbours with the same reason share a line.
std::string cut_list(const Plan& plan, const Terminal& terminal) {
  std::string out;
  const std::size_t width = drawing_width(terminal);
  for (std::size_t i = 0; i < plan.pieces.size();) {
    const PlannedPiece& first = plan.pieces[i];
    std::size_t end = i;
    Tokens tokens = 0;
    while (end < plan.pieces.size() &&
           (end == i || engine::are_neighbours(plan.pieces[end - 1], plan.pieces[end])) &&
           plan.pieces[end].fate == first.fate && plan.pieces[end].reason == first.reason)
      tokens += plan.pieces[end++].tokens;
    if (first.fate != Fate::kept) {
      const std::string id = printable(first.id, longest_id);
      const std::string ids = end - i == 1
                                  ? id
                                  : fmt::format("{} to {} ({} of them)", id,
                                                printable(plan.pieces[end - 1].id, longest_id), end - i);
      out += "  " +
             wrap(fmt::format("{}, {} tokens: {}", ids, with_thousands(tokens), first.reason), width, 2) +
             "\n";
    }
    i = end;
  }
  return out.empty() ? "" : bold(terminal, "Left out") + "\n" + out;
}

std::string some_of(const std::vector<std::string>& ids) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), shown); ++i)
    text += (i == 0 ? "" : ", ") + printable(ids[i], longest_id);
  return ids.size() > shown ? fmt::format("{} and {} more", text, ids.size() - shown) : text;
}

std::string price_list(const Plan& plan, const Terminal& terminal) {
  std::string out;
  for (const PlannedPrice& price : plan.prices) {
    const bool more = price.change > 0;
    std::string what;
    if (!price.fits) {
      what = "the request would no longer fit";
    } else {
      if (!price.added.empty()) what = fmt::format("{} would go in", some_of(price.added));
      if (!price.gone.empty())
        what += fmt::format("{}{} would be left out", what.empty() ? "" : ", ", some_of(price.gone));
      if (price.answer != 0)
        what += fmt::format("{}the answer would have {} tokens {}", what.empty() ? "" : ", ",
                            with_thousands(price.answer > 0 ? price.answer : -price.answer),
                            price.answer > 0 ? "more" : "fewer");
      if (price.thinking != 0)
        what += fmt::format("{}thinking would have {} tokens {}", what.empty() ? "" : ", ",
                            with_thousands(price.thinking > 0 ? price.thinking : -price.thinking),
                            price.thinking > 0 ? "more" : "fewer");
      if (what.empty()) what = "nothing would change";
    }
    out += "  " +
           wrap(fmt::format("{} tokens {}: {}", with_thousands(more ? price.change : -price.change),
                            more ? "more" : "fewer", what),
                drawing_width(terminal), 2) +
           "\n";
  }
  return out.empty() ? "" : bold(terminal, "With another window") + "\n" + out;
}

std::string summary_lines(const Plan& plan, const Terminal& terminal) {
  if (!plan.summary) return {};
  const PlannedSummary& summary = *plan.summary;
  const std::string by = summary.model.empty() ? "" : " by " + printable(summary.model);
  return bold(terminal, "Compressed") + "\n  " +
         wrap(fmt::format("{}, {} turns, {} tokens: replaced by a summary of {} tokens ({}{}{}, {})",
                          some_of(summary.replaces), summary.turns, with_thousands(summary.before),
                          with_thousands(summary.after), printable(summary.how), by,
                          summary.known ? ", made earlier" : "", printable(summary.id)),
              drawing_width(terminal), 2) +
         "\n";
}

std::string fallback_lines(const Plan& plan, const Terminal& terminal) {
  const FallbackDecision& fallback = plan.fallback;
  std::string out = bold(terminal, "Fallback") + "\n  " +
                    wrap(printable(fallback.reason, 1000), drawing_width(terminal), 2) + "\n";
  for (const FallbackCandidate& candidate : fallback.considered)
    out += "  " +
           wrap(fmt::format("{}: {}", printable(candidate.model), candidate.verdict), drawing_width(terminal),
                2) +
           "\n";
  return out;
}

std::string verdict(const Plan& plan, const Terminal& terminal) {
  if (!plan.fits) return bold(terminal, "It does not fit.") + "\n";
  const std::size_t width = drawing_width(terminal);
  const std::string thinking =
      plan.thinking > 0 ? fmt::format("thinking {}, ", with_thousands(plan.thinking)) : "";
  std::string out =
      wrap(fmt::format("It fits: input {}, {}answer {}, margin {}, {} free. Pressure {:.0f} % (100 % is "
                       "where history is compressed).",
                       with_thousands(plan.input), thinking, with_thousands(plan.answer),
                       with_thousands(plan.margin), with_thousands(plan.left), plan.pressure * 100),
           width, 0) +
      "\n";
  if (plan.strategy.content.tokens > 0)  // only if there are documents
    out += wrap(fmt::format("Strategy {}: {}", name_of(plan.strategy.strategy), plan.strategy.reasoning),
                width, 0) +
           "\n";
  return out;
}

}  // namespace

std::string window_bar(const Plan& plan, const Terminal& terminal) {
  const std::size_t width = drawing_width(terminal);
  std::vector<budget::Party> parties;
  std::vector<Tokens> cells;
  Tokens spare = static_cast<Tokens>(width);
  // Every section with a token gets a cell; the rest of the line is divided by tokens.
  const auto add = [&](Tokens tokens) {
    const Tokens own = tokens > 0 && spare > 0 ? 1 : 0;
    spare -= own;
    cells.push_back(own);
    parties.push_back({std::max<Tokens>(tokens, 0), tokens > 0 ? static_cast<Tokens>(width) : 0});
  };
  for (const PlannedSection& planned : plan.sections) add(planned.used);
  add(plan.left);
  const std::vector<Tokens> more = budget::apportion(spare, parties, budget::Tie::earlier);
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto count = static_cast<std::size_t>(cells[i] + more[i]);
    std::string run;
    if (i == plan.sections.size()) {
      for (std::size_t cell = 0; cell < count; ++cell) run += "·";
      if (count > 0) out += coloured(terminal, 240, run);
    } else {
      const Look& look = look_of(plan.sections[i].section.kind);
      for (std::size_t cell = 0; cell < count; ++cell)
        run += terminal.colour ? std::string("█") : std::string(1, look.letter);
      if (count > 0) out += coloured(terminal, look.colour, run);
    }
  }
  return out + "\n";
}

std::string plan_report(const Plan& plan, const Terminal& terminal) {
  const std::size_t width = drawing_width(terminal);
  std::string out = bold(terminal, printable(plan.model)) + "\n";
  out += wrap(fmt::format("window {} tokens ({}, {} confidence), policy {}, counts {}",
                          with_thousands(plan.window.tokens), name_of(plan.window.source),
                          name_of(plan.window.confidence), name_of(plan.policy), name_of(plan.exactness)),
              width, 0) +
         "\n\n";
  out += window_bar(plan, terminal) + legend(plan, terminal) + "\n" + section_table(plan, terminal) + "\n";
  out += verdict(plan, terminal);
  for (const std::string& block : {summary_lines(plan, terminal), cut_list(plan, terminal),
                                   fallback_lines(plan, terminal), price_list(plan, terminal)})
    if (!block.empty()) out += "\n" + block;
  std::string warnings;
  for (const std::string& warning : plan.warnings)
    if (warning != plan.fallback.reason) warnings += "  " + wrap(printable(warning, 2000), width, 2) + "\n";
  if (!warnings.empty()) out += "\n" + bold(terminal, "Warnings") + "\n" + warnings;
  return out;
}

}  // namespace plimsoll
