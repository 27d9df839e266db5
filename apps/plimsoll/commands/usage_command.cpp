#include "commands/usage_command.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "index/stores.hpp"
#include "ledger/cost.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

constexpr std::int64_t usual_days = 30;
constexpr std::int64_t day_seconds = std::int64_t{24} * 3600;

struct UsageOptions {
  std::string day, key, by, store;
  std::optional<std::int64_t> days;
  bool json = false;
};

std::int64_t today() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::hours(24);
}

std::string shown_day(std::int64_t day) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(day * day_seconds)));
}

Result<std::int64_t> read_day(const std::string& text) {
  if (text == "today") return today();
  if (text == "yesterday") return today() - 1;
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%d", &parts);
  const std::int64_t day = end == nullptr ? 0 : ::timegm(&parts) / day_seconds;
  if (end == nullptr || *end != '\0' || shown_day(day) != text)
    return fail(Errc::bad_input, "'{}' is not a day; use a date such as 2026-11-16, today or yesterday",
                text);
  return day;
}

// One line of the report.
struct Line {
  std::string name;
  std::int64_t requests = 0;
  Tokens read = 0, written = 0;
  std::int64_t nano_usd = 0, priced = 0;  // priced: requests whose cost is known
  std::vector<std::pair<std::string, Tokens>> sections;
};

bool is_written(std::string_view section) {
  return section == "answer" || section == "thinking";
}

class Names {
 public:
  explicit Names(const std::vector<ApiKey>& keys) {
    for (const ApiKey& key : keys) names_[key.id] = key.name;
  }
  std::string of(const UsageSum& sum, UsageWish::By by) const {
    if (by == UsageWish::By::owner) {
      const auto found = names_.find(sum.group);
      return found != names_.end() ? found->second : sum.group == local_owner ? "(no key)" : sum.group;
    }
    if (by == UsageWish::By::day) {
      std::int64_t day = 0;
      std::from_chars(sum.group.data(), sum.group.data() + sum.group.size(), day);
      return shown_day(day);
    }
    return sum.group.empty() ? "(no answer)" : sum.group;
  }

 private:
  std::map<std::string, std::string> names_;
};

std::vector<Line> lines_of(const std::vector<UsageSum>& sums, const Names& names, UsageWish::By by) {
  std::vector<Line> lines;
  std::string group;
  for (const UsageSum& sum : sums) {
    if (by == UsageWish::By::section && sum.section.empty()) continue;  // the requests themselves
    if (lines.empty() || sum.group != group) lines.push_back({names.of(sum, by), 0, 0, 0, 0, 0, {}});
    group = sum.group;
    Line& line = lines.back();
    if (sum.section.empty() || by == UsageWish::By::section)
      line.requests = add_used(line.requests, sum.requests);
    if (sum.section.empty()) {
      line.nano_usd = add_cost(line.nano_usd, sum.nano_usd);
      line.priced = add_used(line.priced, sum.priced);
      continue;
    }
    Tokens& kind = is_written(sum.section) ? line.written : line.read;
    kind = add_used(kind, sum.tokens);
    line.sections.emplace_back(sum.section, sum.tokens);
  }
  return lines;
}

// "$0.12", "$0.12 of 3" if the cost of the others is not known, "-" if none is.
std::string cost_cell(const Line& line) {
  if (line.priced == 0) return "-";
  const std::string cost = ledger::in_dollars(line.nano_usd);
  return line.priced == line.requests ? cost : fmt::format("{} of {}", cost, with_thousands(line.priced));
}

std::string report(const std::vector<Line>& lines, const std::string& by, const Terminal& terminal) {
  Table table{{base::to_upper_ascii(by), "REQUESTS", "READ", "WRITTEN", "TOKENS", "SHARE"},
              {false, true, true, true, true, true},
              {},
              lines.size() > 1};
  // The cost of a request is not divided among its sections.
  const bool has_cost = std::ranges::any_of(lines, [](const Line& line) { return line.priced > 0; });
  if (has_cost) {
    table.header.emplace_back("COST");
    table.right.push_back(true);
  }
  Line all{"total", 0, 0, 0, 0, 0, {}};
  for (const Line& line : lines) {
    all.nano_usd = add_cost(all.nano_usd, line.nano_usd);
    all.priced = add_used(all.priced, line.priced);
    all.requests = add_used(all.requests, line.requests);
    all.read = add_used(all.read, line.read);
    all.written = add_used(all.written, line.written);
  }
  const auto row = [&](const Line& line, const std::string& requests) {
    const Tokens tokens = line.read + line.written, whole = all.read + all.written;
    table.rows.push_back(
        {printable(line.name), requests, with_thousands(line.read), with_thousands(line.written),
         with_thousands(tokens),
         whole > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(tokens) / static_cast<double>(whole))
                   : ""});
    if (has_cost) table.rows.back().push_back(cost_cell(line));
  };
  for (const Line& line : lines) row(line, with_thousands(line.requests));
  // A request is in several sections, so their sum has no meaning.
  if (table.total) row(all, by == "section" ? "" : with_thousands(all.requests));
  return draw(table, terminal);
}

Json cost_json(const Line& line, const std::string& by) {
  if (by == "section") return nullptr;
  return {{"nano_usd", line.priced > 0 ? Json(line.nano_usd) : Json()}, {"requests", line.priced}};
}

std::string report_json(const std::vector<Line>& lines, const UsageWish& wish, const std::string& by) {
  Json rows = Json::array();
  for (const Line& line : lines) {
    Json sections = Json::object();
    for (const auto& [section, tokens] : line.sections) sections[section] = tokens;
    rows.push_back({{by, line.name},
                    {"requests", line.requests},
                    {"tokens", line.read + line.written},
                    {"read_tokens", line.read},
                    {"written_tokens", line.written},
                    {"cost", cost_json(line, by)},
                    {"sections", std::move(sections)}});
  }
  const Json json{{"schema", 1},
                  {"first_day", shown_day(wish.first_day)},
                  {"last_day", shown_day(wish.last_day)},
                  {"usage", std::move(rows)}};
  return base::readable_json(json);
}

Result<std::string> owner_named(const std::vector<ApiKey>& keys, const std::string& name) {
  for (const ApiKey& key : keys)
    if (key.name == name) return key.id;
  return fail(Errc::not_found, "unknown key '{}'; `plimsoll keys list` lists all keys", name);
}

Result<void> run(const Globals& globals, const UsageOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  TRY(const auto store, open_keys(with_store(settings, options.store), /*create=*/false));
  TRY(const auto keys, store->keys());
  const std::string by = !options.by.empty() ? options.by : keys.empty() ? "model" : "key";
  const std::map<std::string, UsageWish::By> words{{"key", UsageWish::By::owner},
                                                   {"model", UsageWish::By::model},
                                                   {"section", UsageWish::By::section},
                                                   {"day", UsageWish::By::day}};
  UsageWish wish;
  wish.by = words.at(by);
  wish.last_day = today();
  wish.first_day = wish.last_day - options.days.value_or(usual_days) + 1;
  if (!options.day.empty()) {
    TRY(wish.first_day, read_day(options.day));
    wish.last_day = wish.first_day;
  }
  if (!options.key.empty()) {
    TRY(wish.owner, owner_named(keys, options.key));
  }
  TRY(const auto sums, store->usage(wish));
  const auto lines = lines_of(sums, Names(keys), wish.by);
  if (options.json) return print_out(report_json(lines, wish, by));
  if (lines.empty())
    return print_out(
        fmt::format("no usage from {} to {}\n", shown_day(wish.first_day), shown_day(wish.last_day)));
  return print_out(report(lines, by, terminal_of_stdout()));
}

constexpr const char* usage_examples =
    "READ counts the tokens sent to models, WRITTEN the tokens of answers and thinking, as reported by the\n"
    "servers. COST is by the list prices of models, for the requests whose cost is known: \"$0.12 of 3\" is "
    "the\n"
    "cost of 3 requests. Days are in UTC.\n"
    "\n"
    "Examples:\n"
    "  plimsoll usage                              the last 30 days, by key\n"
    "  plimsoll usage --day today --by section     tokens of each part of the prompts\n"
    "  plimsoll usage --days 7 --key ann --by model\n"
    "  plimsoll usage --by day --json\n";

}  // namespace

void add_usage_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<UsageOptions>();
  CLI::App* command = app.add_subcommand("usage", "Show token usage");
  command->footer(usage_examples);
  CLI::Option* day =
      command->add_option("--day", options->day, "One day: 2026-11-16, today, yesterday")->type_name("D");
  command->add_option("--days", options->days, "The last N days, including today (default: 30)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{36'500}))
      ->excludes(day);
  command->add_option("--key", options->key, "Only this key")->type_name("NAME");
  command->add_option("--by", options->by, "Group by (default: key, or model if there are no keys)")
      ->check(CLI::IsMember({"key", "model", "section", "day"}));
  command->add_flag("--json", options->json, "Print JSON, with the sections of each line");
  command->add_option("--store", options->store, "Database file (default: the setting store or store_file)")
      ->type_name("PATH");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
