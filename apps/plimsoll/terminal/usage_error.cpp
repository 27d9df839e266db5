#include "terminal/usage_error.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

std::optional<std::string> nearest_of(std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = base::nearest(name, known);
  return near ? std::optional<std::string>(*near) : std::nullopt;
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// `given`: "--upstrem" or "--upstrem=x".
std::string no_such_option(const CLI::App& top, const CLI::App& app, const std::string& path,
                           const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  std::string hint;
  const std::vector<std::string> globals = long_options(top);
  if (const auto near = nearest_of(name, long_options(app)))
    hint = fmt::format("did you mean `{}`? ", *near);
  else if (std::find(globals.begin(), globals.end(), name) != globals.end())
    hint = fmt::format("`{}` goes before the command: `plimsoll {} ...{}`. ", name, name,
                       path.substr(path.find(' ')));
  return fmt::format("plimsoll: `{}` has no option `{}`; {}`{} --help` lists all options\n", path,
                     printable(name, 40), hint, path);
}

// CLI11's sentences about one option, and ours.
struct Sentence {
  std::regex theirs;
  const char* ours;
};

// `path`: the command whose help has more, "plimsoll plan".
std::string said_plainly(const std::string& path, const std::string& theirs) {
  static const std::array<Sentence, 8> sentences{{
      {std::regex(R"((.+): Value (.*) not in range (\S+) to (\S+))"), "$1 must be from $3 to $4, not '$2'"},
      {std::regex(R"((.+): (.*) not in \{(.+)\})"), "$1 must be one of $3, not '$2'"},
      {std::regex(R"((.+): \d+ required .* missing)"), "$1 needs a value"},
      {std::regex(R"((\S+) is required)"), "$1 is missing"},
      {std::regex(R"((\S+) excludes (\S+))"), "$1 and $2 cannot be given together"},
      {std::regex(R"(Could not convert: (\S+) = (.*\D.*|))"), "$1 must be a number, not '$2'"},
      {std::regex(R"(Could not convert: (\S+) = (.*))"), "$1 is too large: $2"},
      {std::regex(R"(The following arguments? w(?:as|ere) not expected: (.*))"),
       "it takes no further words: '$1'"},
  }};
  std::string said = theirs;
  for (const Sentence& sentence : sentences)
    if (std::regex_match(theirs, sentence.theirs)) {
      said = std::regex_replace(theirs, sentence.theirs, sentence.ours);
      break;
    }
  return fmt::format("plimsoll: {}; `{} --help` explains it\n", printable(said, 400), path);
}

}  // namespace

std::string no_such_command(const CLI::App& parent, const std::string& path, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : parent.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const auto near = nearest_of(name, names);
  return fmt::format("plimsoll: unknown command `{} {}`; {}`{} --help` lists all commands\n", path,
                     printable(name, 40), near ? fmt::format("did you mean `{} {}`? ", path, *near) : "",
                     path);
}

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); };
  const CLI::App* last = app;
  std::string path = "plimsoll";
  std::string option;  // the first that is not known, and the command that was given it
  std::string option_path;
  const CLI::App* option_of = nullptr;
  while (true) {
    const std::vector<std::string> rest = last->remaining();
    const auto unknown = std::ranges::find_if(rest, is_option);
    if (option_of == nullptr && unknown != rest.end()) {
      option = *unknown;
      option_of = last;
      option_path = path;
    }
    if (last->get_subcommands().empty()) break;
    last = last->get_subcommands().front();
    path += " " + last->get_name();
  }
  const std::vector<std::string> rest = last->remaining();
  if (last->get_require_subcommand_min() > 0 && !rest.empty() && !is_option(rest.front()))
    return no_such_command(*last, path, rest.front());
  if (option_of != nullptr) return no_such_option(*app, *option_of, option_path, option);
  return said_plainly(path, error.what());
}

}  // namespace plimsoll
