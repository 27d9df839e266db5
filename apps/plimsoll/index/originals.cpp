#include "index/originals.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

Json originals_of(const KeptSummary& summary) {
  if (!base::check_json_shape(summary.originals, "the originals")) return Json::array();
  Json list = base::parse_json(summary.originals);
  return list.is_array() ? list : Json::array();
}

std::string line_of(const KeptSummary& summary) {
  const Json json{
      {"hash", summary.hash},         {"parent", summary.parent}, {"how", summary.how},
      {"model", summary.model},       {"at_ms", summary.at_ms},   {"turns", summary.turns},
      {"messages", summary.messages}, {"text", summary.text},     {"originals", originals_of(summary)}};
  return base::json_text(json) + "\n";
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  return found->is_string() ? found->get<std::string>() : base::json_text(*found);
}

// Makes text safe to print; keeps line ends.
std::string printable_lines(std::string_view text) {
  constexpr std::size_t all = std::size_t{1} << 30;
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, end), all);
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string report_of(const KeptSummary& summary, const Terminal& terminal) {
  std::string out = bold(terminal, fmt::format("Summary {}", summary.hash.substr(0, 16))) +
                    fmt::format(", {}{}{}, for {} turns since the beginning\n", summary.how,
                                summary.model.empty() ? "" : " by ", printable(summary.model), summary.turns);
  out += printable_lines(summary.text) + "\n\n";
  out += bold(terminal,
              summary.parent.empty() ? "What it replaced" : "What it replaced besides the previous summary") +
         "\n";
  for (const Json& one : originals_of(summary)) {
    if (!one.is_object() || !one.contains("message") || !one["message"].is_object()) continue;
    out +=
        fmt::format("{} {}: {}\n", printable(text_at(one, "id")), printable(text_at(one["message"], "role")),
                    printable_lines(text_at(one["message"], "content")));
  }
  return out + "\n";
}

}  // namespace

Result<std::string> session_originals(const config::Settings& settings, const std::string& owner,
                                      const std::string& session, bool json) {
  TRY(const auto sessions, open_sessions(settings, /*create=*/true));
  TRY(const auto summaries, sessions->summaries(owner, session, /*whole=*/true));
  if (summaries.empty())
    return fail(Errc::not_found,
                "no summary for session '{}': all its turns were sent unchanged, or it belongs to a key "
                "(--key NAME)",
                session);
  std::string out;
  for (const KeptSummary& summary : summaries)
    out += json ? line_of(summary) : report_of(summary, terminal_of_stdout());
  return out;
}

}  // namespace plimsoll
