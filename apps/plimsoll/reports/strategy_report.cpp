#include "reports/strategy_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "strategy/decision_json.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

constexpr std::size_t label_cells = 10;

// Wraps text to `columns` cells at spaces and indents all lines but the first. 0: one line.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  if (columns == 0) return std::string(text) + "\n";
  std::string out, line;
  const std::size_t width = std::max<std::size_t>(columns, indent + 20);
  const auto flush = [&] {
    out += line + "\n";
    line.assign(indent, ' ');
  };
  bool fresh = true;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!fresh && display_width(line) + 1 + display_width(word) > width) {
      flush();
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  flush();
  return out;
}

std::string row(std::string_view label, std::string_view text, const Terminal& terminal) {
  return wrapped(fmt::format("{:<{}}{}", label, label_cells, text), terminal.columns, label_cells);
}

std::string painted(std::string_view text, const char* code, const Terminal& terminal) {
  return terminal.colour && !text.empty() ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

std::string repeated(std::string_view cell, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += cell;
  return out;
}

struct Part {
  const char* name;
  Tokens tokens;
  std::string_view cell;
  const char* colour;
};

// Returns the parts of the window: used, content, free, and the reserved quarter.
std::array<Part, 4> parts_of(const StrategyDecision& decision) {
  const Tokens window = decision.model_context_length;
  const Tokens kept = window / 4;
  const Tokens used = std::min(decision.used_tokens, window - kept);
  const Tokens content = std::min(decision.content.tokens, decision.available_budget);
  return {{{"used", used, "█", "34"},
           {"content", content, "▓", decision.content.tokens > decision.available_budget ? "31" : "32"},
           {"free", decision.available_budget - content, "·", "2"},
           {"reserved for system, tools and answer", kept, "░", "33"}}};
}

std::string window_bar(const StrategyDecision& decision, const Terminal& terminal) {
  const Tokens window = decision.model_context_length;
  if (window <= 0) return "";
  constexpr std::size_t widest = 64;
  const std::size_t room =
      terminal.columns == 0 ? widest : std::max<std::size_t>(terminal.columns, 30) - label_cells - 1;
  const std::size_t cells = std::min(widest, room);
  const bool over = decision.content.tokens > decision.available_budget;
  std::string bar(label_cells, ' '), legend;
  Tokens before = 0;
  const auto cell_at = [&](Tokens tokens) {
    return static_cast<std::size_t>(
        std::lround(static_cast<double>(tokens) / static_cast<double>(window) * static_cast<double>(cells)));
  };
  for (const Part& part : parts_of(decision)) {
    const std::size_t from = cell_at(before);
    before += part.tokens;
    bar += painted(repeated(part.cell, cell_at(before) - from), part.colour, terminal);
    if (part.tokens > 0)
      legend += fmt::format("{}{} {} {}", legend.empty() ? "" : ", ", part.cell, part.name,
                            with_thousands(part.tokens));
  }
  if (over)
    legend += fmt::format("; {} tokens of content do not fit",
                          with_thousands(decision.content.tokens - decision.available_budget));
  return bar + "\n" + row("", legend, terminal);
}

std::string content_line(const StrategyFindings& findings) {
  const ContentEstimate& content = findings.decision.content;
  std::string how;
  switch (content.source) {
    case ContentSource::char_count: how = "estimated from the number of characters, four per token"; break;
    case ContentSource::counted:
      how = fmt::format("counted with {}, {}", findings.tokenizer, name_of(content.exactness));
      break;
    case ContentSource::file_sizes: how = "estimated from the file sizes, four bytes per token"; break;
    case ContentSource::hint: how = "estimated from the hint"; break;
    case ContentSource::assumed: how = "assumed: no size, file or hint was given"; break;
  }
  return fmt::format("{} tokens, {:.1f}% of the window; {}", with_thousands(content.tokens),
                     findings.decision.utilization_pct, how);
}

std::string memory_line(const StrategyFindings& findings) {
  const Prefetch fetch = prefetch(findings.pressure, 5, findings.base_min_trust);
  const std::string pressure =
      fmt::format("pressure {:.1f}%, {}", findings.pressure.pressure() * 100, name_of(fetch.level));
  if (fetch.skip) return pressure + ": prefetch no facts";
  if (!findings.prefetch_wanted) return pressure + ": prefetch no facts, the query does not need any";
  return fmt::format("{}: prefetch up to {} facts with a trust of {:.1f} or more", pressure, fetch.limit,
                     fetch.min_trust);
}

std::string files_table(const StrategyFindings& findings, const Terminal& terminal) {
  if (findings.files.empty()) return "";
  Table table{{"FILE", "TOKENS", "BYTES", ""}, {false, true, true, false}, {}, false};
  for (const WeighedFile& file : findings.files)
    table.rows.push_back({file.path, with_thousands(file.tokens), with_thousands(file.bytes),
                          !file.counted           ? "estimated"
                          : file.document.empty() ? "counted"
                                                  : fmt::format("text of the {} counted", file.document)});
  return "\n" + draw(table, terminal);
}

}  // namespace

std::string strategy_report(const StrategyFindings& findings, const Terminal& terminal) {
  const StrategyDecision& decision = findings.decision;
  std::string out = painted(name_of(decision.strategy), "1", terminal) +
                    fmt::format(", confidence {:.2f}\n", decision.confidence);
  out += wrapped(decision.reasoning, terminal.columns, 0) + "\n";
  out += row("task",
             decision.task.signal.empty()
                 ? "unknown: no signal in the query"
                 : fmt::format("{}{}, by \"{}\"", name_of(decision.task.type),
                               decision.task.crisis ? " (crisis)" : "", decision.task.signal),
             terminal);
  out += row("content", content_line(findings), terminal);
  out += row(
      "window",
      fmt::format("{} tokens, {}{}", with_thousands(decision.model_context_length), findings.window_source,
                  findings.model.empty() ? "" : fmt::format(" ({})", findings.model)),
      terminal);
  out += window_bar(decision, terminal);
  out += row("retrieve",
             decision.retrieval_budget_tokens == 0
                 ? "nothing"
                 : fmt::format("up to {} tokens", with_thousands(decision.retrieval_budget_tokens)),
             terminal);
  out += row("memories", memory_line(findings), terminal);
  out += files_table(findings, terminal);
  for (const SkippedFile& file : findings.skipped)
    out += wrapped(fmt::format("skipped: {}", file.why), terminal.columns, 2);
  if (!findings.not_counted.empty())
    out += wrapped(fmt::format("not counted: {}", findings.not_counted), terminal.columns, 2);
  out += '\n';
  for (std::size_t i = 0; i < decision.steps.size(); ++i)
    out += wrapped(fmt::format("{:>2}. {}", i + 1, decision.steps[i]), terminal.columns, 4);
  return out;
}

std::string strategy_json(const StrategyFindings& findings) {
  Json all = strategy::to_json(findings.decision);
  all["window_source"] = findings.window_source;
  if (!findings.model.empty()) all["model"] = findings.model;
  if (!findings.tokenizer.empty()) all["tokenizer"] = findings.tokenizer;
  if (!findings.not_counted.empty()) all["not_counted"] = findings.not_counted;
  Json files = Json::array();
  for (const WeighedFile& file : findings.files)
    files.push_back({{"file", file.path},
                     {"tokens", file.tokens},
                     {"bytes", file.bytes},
                     {"counted", file.counted},
                     {"read_as", file.document.empty() ? Json() : Json(file.document)}});
  all["files"] = std::move(files);
  Json skipped = Json::array();
  for (const SkippedFile& file : findings.skipped)
    skipped.push_back({{"file", file.path}, {"why", file.why}});
  all["skipped"] = std::move(skipped);
  const Prefetch fetch = prefetch(findings.pressure, 5, findings.base_min_trust);
  all["prefetch"] = {{"pressure", findings.pressure.pressure()},
                     {"threshold_tokens", findings.pressure.threshold_tokens},
                     {"level", name_of(fetch.level)},
                     {"limit", fetch.limit},
                     {"min_trust", fetch.min_trust},
                     {"skip", fetch.skip},
                     {"wanted", findings.prefetch_wanted}};
  return base::readable_json(all);
}

}  // namespace plimsoll
