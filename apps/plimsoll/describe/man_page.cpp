#include "describe/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plimsoll {
namespace {

// Text that troff prints as it is.
std::string plain(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    begins_line = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// With a line end, also if the text has one already.
std::string lines(const std::string& text) {
  std::string out = plain(text);
  while (out.ends_with('\n')) out.pop_back();
  return out + "\n";
}

std::string synopsis(const DescribedCommand& command) {
  std::string out = fmt::format("\\fBplimsoll{}{}\\fR", command.path.empty() ? "" : " ", plain(command.path));
  if (command.options.size() > 1) out += " [\\fIOPTIONS\\fR]";
  if (!command.subcommands.empty()) out += " \\fICOMMAND\\fR";
  for (const DescribedOption& option : command.options) {
    if (!option.is_positional) continue;
    const std::string name =
        fmt::format("\\fI{}\\fR{}", plain(option.names.front()), option.is_repeated ? "..." : "");
    out += option.is_required ? " " + name : fmt::format(" [{}]", name);
  }
  return out + "\n";
}

std::string options(const DescribedCommand& command) {
  std::string out;
  for (const DescribedOption& option : command.options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names)
      names.push_back(fmt::format("\\f{}{}\\fR", option.is_positional ? 'I' : 'B', plain(name)));
    const std::string value = option.value.empty() || option.is_positional
                                  ? std::string()
                                  : fmt::format(" \\fI{}\\fR", plain(option.value));
    out += fmt::format(".TP\n{}{}\n{}", fmt::join(names, ", "), value, lines(option.about));
  }
  return out;
}

std::string examples(const DescribedCommand& command) {
  if (command.examples.empty()) return {};
  return fmt::format(".PP\n.nf\n{}.fi\n", lines(command.examples));
}

}  // namespace

std::string man_page(const std::vector<DescribedCommand>& commands, std::string_view version) {
  const DescribedCommand& program = commands.front();
  std::string out = fmt::format(
      ".\\\" Written by `plimsoll man`.\n.TH PLIMSOLL 1 \"\" \"plimsoll {}\" \"User Commands\"\n.SH "
      "NAME\nplimsoll "
      "\\- manage the context window of an LLM\n.SH SYNOPSIS\n{}.SH DESCRIPTION\n{}.SH OPTIONS\n{}.SH "
      "COMMANDS\n",
      version, synopsis(program), lines(program.about), options(program));
  for (const DescribedCommand& command : commands)
    if (!command.path.empty())
      out += fmt::format(".SS \"plimsoll {}\"\n{}.PP\n{}{}{}", plain(command.path), synopsis(command),
                         lines(command.about), options(command), examples(command));
  out += fmt::format(".SH EXAMPLES\n.nf\n{}.fi\n", lines(program.examples));
  return out +
         ".SH EXIT STATUS\n0 on success, 2 on wrong usage, 1 on any other failure.\n"
         ".SH FILES\n.TP\n\\fI~/.config/plimsoll/plimsoll.toml\\fR\nSettings; \\fBplimsoll config\\fR lists "
         "them.\n"
         ".TP\n\\fI~/.local/share/plimsoll/store.db\\fR\nDocuments, traces and keys.\n"
         ".TP\n\\fI~/.cache/plimsoll/\\fR\nTokenizers and models.\n";
}

}  // namespace plimsoll
