#include "describe/command_tree.hpp"

#include <algorithm>

namespace plimsoll {
namespace {

// The allowed values of an option with a check for a set: "TEXT:{a,b}" has a and b.
std::vector<std::string> choices_of(const CLI::Option& option) {
  std::vector<std::string> choices;
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{");
  if (begin == std::string::npos) return choices;
  const std::size_t end = std::min(type.find('}', begin), type.size());
  for (const std::string& word : CLI::detail::split(type.substr(begin + 2, end - begin - 2), ','))
    choices.push_back(word);
  return choices;
}

DescribedOption describe_option(const CLI::Option& option) {
  DescribedOption out;
  out.is_positional = option.get_positional();
  if (out.is_positional) out.names.push_back(option.get_single_name());
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.value = value_name(option);
  out.choices = choices_of(option);
  out.about = option.get_description();
  out.is_repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  out.is_required = option.get_required();
  return out;
}

void walk(const CLI::App& app, const std::string& path, std::vector<DescribedCommand>& out) {
  DescribedCommand command{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) command.options.push_back(describe_option(*option));
  const auto visible = app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (const CLI::App* sub : visible) command.subcommands.push_back(sub->get_name());
  out.push_back(std::move(command));
  for (const CLI::App* sub : visible)
    walk(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), out);
}

}  // namespace

bool DescribedOption::takes_file() const {
  return value.starts_with("FILE") || value.starts_with("PATH") || value.starts_with("FOLDER") ||
         value.starts_with("DIR");
}

std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  std::string given = option.get_type_name();
  const std::size_t choices = given.find(":{");
  if (choices != std::string::npos) {
    given = given.substr(choices + 2, given.find('}', choices) - choices - 2);
    std::replace(given.begin(), given.end(), ',', '|');
  } else {
    given.resize(std::min(given.find(':'), given.size()));
  }
  for (const auto& [type, word] : {std::pair{"INT", "N"}, {"UINT", "N"}, {"FLOAT", "X"}})
    if (given == type) given = word;
  return given;
}

std::vector<DescribedCommand> describe(const CLI::App& app) {
  std::vector<DescribedCommand> out;
  walk(app, "", out);
  return out;
}

}  // namespace plimsoll
