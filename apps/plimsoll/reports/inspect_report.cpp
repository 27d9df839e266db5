#include "reports/inspect_report.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text/text.hpp"
#include "engine/plan/read_plan.hpp"
#include "ledger/cost.hpp"
#include "reports/plan_report.hpp"

namespace plimsoll {
namespace {

using base::with_thousands;

constexpr std::size_t short_id = 8;

// In the reader's own time zone.
std::tm local_time(std::int64_t at_ms) {
  const std::time_t seconds = at_ms / 1'000;
  std::tm out{};
  ::localtime_r(&seconds, &out);
  return out;
}

std::string milliseconds(std::int64_t us) {
  if (us < 10'000) return fmt::format("{:.1f} ms", static_cast<double>(us) / 1'000);
  return with_thousands((us + 500) / 1'000) + " ms";
}

std::string with_sign(Tokens number) {
  return number > 0 ? "+" + with_thousands(number) : with_thousands(number);
}

// Ids rise with time, so two ids differ at their ends.
std::string shortened(const std::string& id) {
  return printable(id.size() <= short_id ? id : id.substr(id.size() - short_id));
}

std::string at_least(const std::string& text, std::size_t width) {
  const std::size_t own = display_width(text);
  return own < width ? text + std::string(width - own, ' ') : text;
}

std::string drift_cell(const Trace& trace) {
  if (trace.cut > 0) return fmt::format("CUT {}", with_thousands(trace.cut));
  return trace.drift ? with_sign(*trace.drift) : "";
}

double share_of_window(const Trace& trace) {
  return trace.window > 0 ? static_cast<double>(trace.input) / static_cast<double>(trace.window) : 0;
}

std::string key_of(const Trace& trace, const KeyNames& names) {
  const auto found = names.find(trace.owner);
  return found == names.end() ? "-" : printable(found->second, 24);
}

std::vector<std::string> row_of(const Trace& trace, const KeyNames& names, bool wide) {
  const std::string& model = trace.model.empty() ? trace.asked_model : trace.model;
  std::vector<std::string> row{fmt::format("{:%m-%d %H:%M:%S}", local_time(trace.at_ms)), shortened(trace.id),
                               at_least(printable(model, 24), 16),
                               trace.code == ReplyCode::none ? "-" : std::to_string(number_of(trace.code))};
  if (!names.empty()) row.insert(row.begin() + 2, at_least(key_of(trace, names), 8));
  if (wide) row.push_back(trace.window > 0 ? bar(share_of_window(trace), 10) : std::string(10, ' '));
  row.push_back(trace.input > 0 ? with_thousands(trace.input) : "");
  row.push_back(trace.window > 0 ? "/ " + with_thousands(trace.window) : "");
  row.push_back(trace.usage.answer ? with_thousands(*trace.usage.answer) : "");
  row.push_back(drift_cell(trace));
  row.push_back(with_thousands((trace.total_us + 500) / 1'000));
  return row;
}

std::string paragraph(const std::string& text, const Terminal& terminal, std::size_t indent = 2) {
  return std::string(indent, ' ') + wrap(text, drawing_width(terminal), indent) + "\n";
}

std::string head(const Trace& trace, const KeyNames& names, const Terminal& terminal) {
  std::string out = fmt::format("{}  {:%Y-%m-%d %H:%M:%S}\n", bold(terminal, "Trace " + printable(trace.id)),
                                local_time(trace.at_ms));
  std::string line = fmt::format("{}: ", printable(trace.route));
  line += trace.model.empty() ? fmt::format("{} did not answer", printable(trace.asked_model))
                              : fmt::format("{} answered", printable(trace.model));
  if (!trace.upstream.empty()) line += fmt::format(" on {}", printable(trace.upstream));
  if (!trace.model.empty() && !trace.asked_model.empty() && trace.model != trace.asked_model)
    line += fmt::format(" instead of {}", printable(trace.asked_model));
  line += trace.code == ReplyCode::none ? ", no status" : fmt::format(", status {}", number_of(trace.code));
  if (!trace.finish_reason.empty()) line += fmt::format(" ({})", printable(trace.finish_reason));
  if (trace.stream) line += ", streamed";
  if (trace.model.empty() && trace.attempts.empty())
    line += "; the request was not sent";
  else
    line += trace.changed ? "; the request was changed by the plan" : "; the request was forwarded unchanged";
  out += paragraph(line, terminal, 0);
  if (!names.empty()) out += fmt::format("key {}\n", key_of(trace, names));
  if (!trace.session.empty()) out += fmt::format("session {}\n", printable(trace.session));
  if (!trace.index.empty()) out += fmt::format("index {}\n", printable(trace.index));
  if (!trace.error.empty()) out += paragraph("error: " + printable(trace.error, 2'000), terminal, 0);
  return out + "\n";
}

std::string cut_warning(const Trace& trace, const Terminal& terminal) {
  if (trace.cut <= 0) return "";
  return "\n" + bold(terminal, "THE UPSTREAM CUT THE PROMPT") + "\n" +
         paragraph(
             fmt::format("It read {} of the {} tokens that were sent; {} tokens did not reach the model, "
                         "without an error. Its window is smaller than the {} tokens of the plan: "
                         "raise it on the server, or set llm_context_window to the real window.",
                         with_thousands(trace.input - trace.cut), with_thousands(trace.input),
                         with_thousands(trace.cut), with_thousands(trace.window)),
             terminal);
}

std::string cost_line(const Trace& trace, const Terminal& terminal) {
  if (trace.cost.nano_usd)
    return paragraph(fmt::format("cost {} by the list price", ledger::in_dollars(*trace.cost.nano_usd)),
                     terminal);
  return trace.cost.why.empty() ? ""
                                : paragraph("cost not known: " + printable(trace.cost.why, 500), terminal);
}

std::string usage_lines(const Trace& trace, const Terminal& terminal) {
  std::string line;
  const auto add = [&](std::string_view name, std::optional<Tokens> tokens, const std::string& beside = "") {
    if (!tokens) return;
    line += fmt::format("{}{} {}{}", line.empty() ? "" : ", ", name, with_thousands(*tokens), beside);
  };
  add("input", trace.usage.input, fmt::format(" (planned {})", with_thousands(trace.input)));
  add("cached", trace.usage.cached);
  add("written to the cache", trace.usage.written);
  add("answer", trace.usage.answer, fmt::format(" (room for {})", with_thousands(trace.answer)));
  add("thinking", trace.usage.thinking);
  if (line.empty()) line = "not reported by the upstream";
  if (trace.drift)
    line += *trace.drift == 0 ? "; plan and usage agree" : fmt::format("; drift {}", with_sign(*trace.drift));
  return "\n" + bold(terminal, "Usage") + "\n" + paragraph(line, terminal) + cost_line(trace, terminal);
}

std::string timing_lines(const Trace& trace, const Terminal& terminal) {
  std::string line = fmt::format("plan {}", milliseconds(trace.plan_us));
  if (trace.retrieve_us > 0) line += fmt::format(", passages {}", milliseconds(trace.retrieve_us));
  if (trace.first_byte_us > 0)
    line += fmt::format(", first byte after {}", milliseconds(trace.first_byte_us));
  line += fmt::format(", all {}", milliseconds(trace.total_us));
  return "\n" + bold(terminal, "Time") + "\n" + paragraph(line, terminal);
}

std::string attempt_lines(const Trace& trace, const Terminal& terminal) {
  if (trace.attempts.empty()) return "";
  std::string out = "\n" + bold(terminal, "Attempts") + "\n";
  for (std::size_t i = 0; i < trace.attempts.size(); ++i) {
    const TraceAttempt& attempt = trace.attempts[i];
    out += paragraph(
        fmt::format(
            "{}. {} on {}, window {}, {} after {}: {}", i + 1, printable(attempt.model),
            printable(attempt.upstream), with_thousands(attempt.window),
            attempt.code == ReplyCode::none ? "no reply" : fmt::format("status {}", number_of(attempt.code)),
            milliseconds(attempt.took_us), printable(attempt.outcome, 500)),
        terminal);
  }
  return out;
}

// "docs/log.md, lines 3 to 9". Byte positions are in --json.
std::string where(const TracePassage& passage) {
  std::string out = printable(passage.document);
  if (passage.page > 0) return out + pages_text(passage.page, passage.last_page);
  if (passage.first_line == 0) return out;
  if (passage.first_line == passage.last_line) return out + fmt::format(", line {}", passage.first_line);
  return out + fmt::format(", lines {} to {}", passage.first_line, passage.last_line);
}

// Returns the cosine from the squared distance; "" if the passage was not compared.
std::string similarity(const TracePassage& passage) {
  constexpr double farthest = 4;  // opposite vectors, or a passage that was not compared
  if (passage.distance >= farthest) return {};
  return fmt::format(", similarity {:.2f}", 1 - passage.distance / 2);
}

// ": words: keeps, invoices". Drops "meaning 0.25" at the end, which repeats the similarity.
std::string why(const TracePassage& passage) {
  std::string_view reason = passage.reason;
  const std::size_t meaning = reason.rfind("meaning ");
  const bool is_last =
      meaning != std::string_view::npos && reason.find(';', meaning) == std::string_view::npos;
  if (is_last && !similarity(passage).empty()) reason = reason.substr(0, meaning);
  while (reason.ends_with(' ') || reason.ends_with(';')) reason.remove_suffix(1);
  return reason.empty() ? "" : ": " + printable(reason, 500);
}

std::string passage_lines(const Trace& trace, const Terminal& terminal) {
  if (trace.passages.empty()) return "";
  std::string out = "\n" + bold(terminal, "Passages") + "\n";
  for (const TracePassage& passage : trace.passages) {
    out += paragraph(fmt::format("{}, {}{}{}", where(passage),
                                 several(static_cast<std::uint64_t>(passage.tokens), "token"),
                                 similarity(passage), why(passage)),
                     terminal);
    if (!passage.text.empty()) out += paragraph(printable(passage.text, 2'000), terminal, 4);
  }
  return out;
}

// The best documents that were found and not sent.
std::string left_out_lines(const Trace& trace, const Terminal& terminal) {
  constexpr std::size_t most_shown = 3;
  if (trace.left_out.empty()) return "";
  std::string out = "\n" + bold(terminal, "Found and left out") + "\n";
  const std::size_t shown = std::min(most_shown, trace.left_out.size());
  for (std::size_t i = 0; i < shown; ++i)
    out += paragraph(fmt::format("{}: {}", printable(trace.left_out[i].document),
                                 printable(trace.left_out[i].reason, 500)),
                     terminal);
  const auto more = static_cast<std::uint64_t>(trace.left_out_total) - shown;
  if (more > 0) out += paragraph(fmt::format("and {} more (--json)", several(more, "document")), terminal);
  return out;
}

// Lists the memories in the prompt; the plan lists those left out.
std::string memory_lines(const Plan& plan, const Terminal& terminal) {
  std::string out;
  for (const PlannedPiece& piece : plan.pieces)
    if (piece.section == SectionKind::memory && piece.fate == Fate::kept)
      out += paragraph(fmt::format("{}, {}", printable(piece.id),
                                   several(static_cast<std::uint64_t>(piece.tokens), "token")),
                       terminal);
  return out.empty() ? "" : "\n" + bold(terminal, "Memories") + "\n" + out;
}

bool is_said(std::string_view warning, std::string_view said) {
  return !said.empty() && warning.ends_with(said);
}

// `shown`: warnings of the plan, which are already printed above.
std::string warning_lines(const Trace& trace, const std::vector<std::string>& shown, std::string_view said,
                          const Terminal& terminal) {
  std::string out;
  for (const std::string& warning : trace.warnings)
    if (std::ranges::find(shown, warning) == shown.end() && !is_said(warning, said))
      out += paragraph(printable(warning, 2'000), terminal);
  return out.empty() ? "" : "\n" + bold(terminal, "Warnings") + "\n" + out;
}

}  // namespace

std::string trace_table(std::span<const Trace> traces, const KeyNames& names, const Terminal& terminal,
                        bool header) {
  constexpr std::size_t room_for_a_bar = 100;
  const bool wide = terminal.columns == 0 || terminal.columns >= room_for_a_bar;
  Table table{{"TIME", "ID", "MODEL", "STATUS"}, {false, false, false, true}, {}};
  if (!names.empty()) {
    table.header.insert(table.header.begin() + 2, "KEY");
    table.right.insert(table.right.begin() + 2, false);
  }
  if (wide) {
    table.header.emplace_back("");
    table.right.push_back(false);
  }
  for (const char* name : {"  INPUT", "   WINDOW", "ANSWER", "    DRIFT", "     MS"}) {
    table.header.emplace_back(name);
    table.right.push_back(true);
  }
  for (const Trace& trace : traces) table.rows.push_back(row_of(trace, names, wide));
  std::string out = draw(table, terminal);
  return header ? out : out.substr(out.find('\n') + 1);
}

std::string trace_report(const Trace& trace, const KeyNames& names, const Terminal& terminal,
                         std::string_view said) {
  std::string out = head(trace, names, terminal);
  Plan plan;
  if (trace.plan.empty()) {
    out += trace.window > 0 ? fmt::format("window {}, input {}, answer {}, margin {}\n",
                                          with_thousands(trace.window), with_thousands(trace.input),
                                          with_thousands(trace.answer), with_thousands(trace.margin))
                            : "There is no plan for it.\n";
  } else if (auto read = engine::read_plan(trace.plan)) {
    plan = *std::move(read);
    std::erase_if(plan.warnings, [&](const std::string& warning) { return is_said(warning, said); });
    out += plan_report(plan, terminal);
  } else {
    out += paragraph(fmt::format("The plan cannot be drawn: {}", read.error().what), terminal, 0);
  }
  out += cut_warning(trace, terminal) + usage_lines(trace, terminal) + timing_lines(trace, terminal);
  out += attempt_lines(trace, terminal) + passage_lines(trace, terminal) + left_out_lines(trace, terminal) +
         memory_lines(plan, terminal) + warning_lines(trace, plan.warnings, said, terminal);
  // Names used by other programs.
  out += fmt::format("\nmessageCount {}  memoryCount {}  inputTokenCount {}  adjustedMaxTokens {}\n",
                     plan.message_count, plan.memory_count, trace.input, trace.answer);
  if (!trace.prompt.empty())
    out +=
        fmt::format("The prompt is stored ({}); --json shows it.\n", base::human_bytes(trace.prompt.size()));
  return out;
}

}  // namespace plimsoll
