#include "reports/passages_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

std::string where(const SelectedPassage& passage) {
  std::string out = printable(passage.key);
  out += pages_text(passage.page, passage.last_page);
  if (!passage.path.empty()) out += fmt::format(" > {}", printable(passage.path));
  return out;
}

// "lines 3 to 9, "; empty for files without readable lines, such as PDF and HTML.
std::string lines_of(const SelectedPassage& passage) {
  if (passage.first_line == 0) return {};
  const std::string first = base::with_thousands(static_cast<std::int64_t>(passage.first_line));
  if (passage.first_line == passage.last_line) return fmt::format("line {}, ", first);
  return fmt::format("lines {} to {}, ", first,
                     base::with_thousands(static_cast<std::int64_t>(passage.last_line)));
}

// Makes each line safe to print; keeps line ends.
std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += fmt::format("    {}\n", printable(line, 2'000));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out;
}

}  // namespace

std::string passages_text(const SearchReport& report, const Terminal& terminal) {
  const char* bold = terminal.colour ? "\033[1m" : "";
  const char* dim = terminal.colour ? "\033[2m" : "";
  const char* plain = terminal.colour ? "\033[0m" : "";
  std::string out;
  for (const SelectedPassage& passage : report.selection.passages) {
    out += fmt::format("{}{}{}  {}{}{}, relevance {:.2f}, {}{}\n", bold, where(passage), plain, dim,
                       lines_of(passage), several(static_cast<std::uint64_t>(passage.tokens), "token"),
                       passage.relevance, printable(passage.reason), plain);
    if (!passage.lead.empty()) out += shown(passage.lead);
    out += shown(passage.text) + "\n";
  }
  const auto used =
      static_cast<double>(report.selection.tokens) / static_cast<double>(std::max<Tokens>(report.budget, 1));
  out += fmt::format("{} {} of {} tokens ({}), {} out of {}, {:.1f} ms\n", bar(used, 20),
                     base::with_thousands(report.selection.tokens), base::with_thousands(report.budget),
                     report.tokenizer, several(report.selection.passages.size(), "passage"),
                     several(report.candidates, "chunk"), report.ms);
  for (const std::string& note : report.notes) out += fmt::format("note: {}\n", printable(note, 500));
  return out;
}

std::string passages_json(const SearchReport& report) {
  Json out;
  out["passages"] = Json::array();
  for (const SelectedPassage& passage : report.selection.passages) {
    Json entry{{"document", passage.key},        {"start", passage.source.start}, {"end", passage.source.end},
               {"text", passage.text},           {"tokens", passage.tokens},      {"score", passage.score},
               {"relevance", passage.relevance}, {"reason", passage.reason},      {"label", passage.label},
               {"heading", passage.path},        {"lead", passage.lead},          {"page", nullptr},
               {"last_page", nullptr},           {"first_line", nullptr},         {"last_line", nullptr}};
    if (passage.page > 0) {
      entry["page"] = passage.page;
      entry["last_page"] = passage.last_page;
    }
    if (passage.first_line > 0) {
      entry["first_line"] = passage.first_line;
      entry["last_line"] = passage.last_line;
    }
    out["passages"].push_back(std::move(entry));
  }
  out["tokens"] = report.selection.tokens;
  out["budget"] = report.budget;
  out["candidates"] = report.candidates;
  out["ms"] = report.ms;
  out["tokenizer"] = report.tokenizer;
  out["context"] = report.selection.text;
  out["notes"] = report.notes;
  return base::readable_json(out);
}

}  // namespace plimsoll
