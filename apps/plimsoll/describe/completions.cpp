#include "describe/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plimsoll {
namespace {

// In single quotes, as sh, bash, zsh and (with backslashes) fish read them.
std::string in_quotes(std::string_view text, bool fish = false) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += fish ? "\\'" : "'\\''";
    else if (c == '\\' && fish)
      out += "\\\\";
    else
      out += c;
  }
  return out + "'";
}

// The description up to its first line end.
std::string one_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string words_of(const DescribedCommand& command) {
  std::vector<std::string> words = command.subcommands;
  for (const DescribedOption& option : command.options)
    if (!option.is_positional) words.insert(words.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(words, " "));
}

// Patterns `path option` of a bash `case`, for the options that `wanted` accepts.
template <typename Wanted>
std::vector<std::string> patterns(const DescribedCommand& command, Wanted wanted) {
  std::vector<std::string> out;
  for (const DescribedOption& option : command.options)
    if (!option.is_positional && !option.value.empty() && wanted(option))
      for (const std::string& name : option.names) out.push_back(in_quotes(command.path + " " + name));
  return out;
}

std::string bash(const std::vector<DescribedCommand>& commands) {
  std::string paths, values, choices, words;
  for (const DescribedCommand& command : commands) {
    if (!command.path.empty()) paths += (paths.empty() ? "" : "|") + in_quotes(command.path);
    const auto with_value = patterns(command, [](const DescribedOption&) { return true; });
    if (!with_value.empty())
      values += fmt::format("{}{}", values.empty() ? "" : "|", fmt::join(with_value, "|"));
    for (const DescribedOption& option : command.options)
      if (!option.choices.empty() && !option.is_positional)
        choices += fmt::format(
            "    {}) choices={} ;;\n",
            fmt::join(patterns(command, [&](const DescribedOption& one) { return &one == &option; }), "|"),
            in_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
    words += fmt::format("    {}) words={} ;;\n", in_quotes(command.path), in_quotes(words_of(command)));
  }
  return fmt::format(R"(# Completions of plimsoll for bash, written by `plimsoll completions bash`.
_plimsoll() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path= words= choices= next i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {}) ((i++)); continue ;;
    esac
    next=${{path:+$path }}${{COMP_WORDS[i]}}
    case "$next" in
      {}) path=$next ;;
    esac
  done
  case "$path $before" in
{}    {}) return ;;
  esac
  if [[ -n $choices ]]; then
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
    return
  fi
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _plimsoll plimsoll
)",
                     values, paths, choices, values, words);
}

// Text inside [...] or after a colon of an _arguments specification.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const DescribedOption& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  return option.takes_file() || option.is_positional ? "_files" : " ";
}

std::string zsh_name(const std::string& path) {
  std::string name = "_plimsoll" + (path.empty() ? "" : "_" + path);
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

std::string zsh(const std::vector<DescribedCommand>& commands) {
  std::string out =
      "#compdef plimsoll\n# Completions of plimsoll for zsh, written by `plimsoll completions zsh`.\n";
  for (const DescribedCommand& command : commands) {
    out += fmt::format("\n{}() {{\n", zsh_name(command.path));
    std::string arguments;
    for (const DescribedOption& option : command.options) {
      if (option.is_positional) continue;
      for (const std::string& name : option.names) {
        std::string specification =
            fmt::format("{}{}[{}]", option.is_repeated ? "*" : "", name, zsh_text(one_line(option.about)));
        if (!option.value.empty())
          specification += fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
        arguments += " \\\n    " + in_quotes(specification);
      }
    }
    if (command.subcommands.empty()) {
      out += fmt::format("  _arguments{} \\\n    '*:file:_files'\n}}\n", arguments);
      continue;
    }
    out += fmt::format(
        "  local state line\n  _arguments -C{} \\\n    '1:command:->command' '*::argument:->argument'\n",
        arguments);
    out += "  case $state in\n    command)\n      local -a commands=(\n";
    std::string calls;
    for (const DescribedCommand& sub : commands)
      for (const std::string& name : command.subcommands)
        if (sub.path == (command.path.empty() ? name : command.path + " " + name)) {
          out += fmt::format("        {}\n", in_quotes(name + ":" + one_line(sub.about)));
          calls += fmt::format("        {}) {} ;;\n", name, zsh_name(sub.path));
        }
    out += fmt::format(
        "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n{}      esac "
        ";;\n  esac\n}}\n",
        calls);
  }
  return out + "\n_plimsoll \"$@\"\n";
}

std::string fish(const std::vector<DescribedCommand>& commands) {
  std::string out =
      "# Completions of plimsoll for fish, written by `plimsoll completions fish`.\nset -g "
      "__plimsoll_commands";
  for (const DescribedCommand& command : commands)
    if (!command.path.empty()) out += " " + in_quotes(command.path, true);
  out += R"(
function __plimsoll_at
    set -l path
    for word in (commandline -opc)[2..-1]
        set -l next (string join ' ' $path $word)
        contains -- $next $__plimsoll_commands; and set path $next
    end
    test "$path" = "$argv"
end
)";
  for (const DescribedCommand& command : commands) {
    const std::string at = fmt::format("complete -c plimsoll -n {}",
                                       in_quotes("__plimsoll_at " + in_quotes(command.path, true), true));
    for (const DescribedCommand& sub : commands)
      for (const std::string& name : command.subcommands)
        if (sub.path == (command.path.empty() ? name : command.path + " " + name))
          out += fmt::format("{} -f -a {} -d {}\n", at, name, in_quotes(one_line(sub.about), true));
    for (const DescribedOption& option : command.options) {
      if (option.is_positional) continue;
      std::string line = at;
      for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        line += " -x -a " + in_quotes(fmt::format("{}", fmt::join(option.choices, " ")), true);
      else if (!option.value.empty())
        line += option.takes_file() ? " -r" : " -x";
      out += fmt::format("{} -d {}\n", line, in_quotes(one_line(option.about), true));
    }
  }
  return out;
}

}  // namespace

Result<std::string> completions_for(std::string_view shell, const std::vector<DescribedCommand>& commands) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return fail(Errc::bad_input, "there are completions for bash, zsh and fish, not for '{}'", shell);
}

}  // namespace plimsoll
