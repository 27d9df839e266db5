#include "reports/show_tokens.hpp"

#include <array>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr std::uint64_t show_limit = std::uint64_t{16} << 20;
// Background colours with readable text on light and dark terminals; neighbouring tokens differ.
constexpr std::array<int, 5> backgrounds{24, 58, 22, 53, 94};

// Makes a token visible: line ends are drawn, controls named, parts of a character shown as bytes.
std::string visible(std::string_view token) {
  std::string out;
  while (!token.empty()) {
    const std::size_t bad = base::find_invalid_utf8(token);
    for (const char c : token.substr(0, bad)) {
      if (c == '\n')
        out += "⏎";
      else if (c == '\t')
        out += "⇥";
      else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
        out += fmt::format("⟨{:02X}⟩", static_cast<unsigned char>(c));
      else
        out += c;
    }
    if (bad == std::string_view::npos) break;
    out += fmt::format("⟨{:02X}⟩", static_cast<unsigned char>(token[bad]));
    token.remove_prefix(bad + 1);
  }
  return out;
}

}  // namespace

Result<void> show_tokens(const std::string& path, const Tokenizer& tokenizer, Specials specials) {
  TRY(const std::string text, base::read_file(path == "-" ? "/dev/stdin" : path, show_limit));
  const bool colour = terminal_of_stdout().colour;
  std::string out;
  std::size_t begin = 0;
  std::size_t number = 0;
  for (const std::size_t end : tokenizer.token_ends(text, specials)) {
    const std::string_view token = std::string_view(text).substr(begin, end - begin);
    const std::string shown = visible(token);
    if (colour)
      out += fmt::format("\033[48;5;{};38;5;255m{}\033[0m", backgrounds[number % backgrounds.size()], shown);
    else
      out += number == 0 ? shown : "|" + shown;
    if (token.ends_with('\n')) out += '\n';
    begin = end;
    ++number;
  }
  if (!out.ends_with('\n')) out += '\n';
  out += fmt::format("{} tokens, {} bytes, {}\n", base::with_thousands(static_cast<std::int64_t>(number)),
                     base::with_thousands(static_cast<std::int64_t>(text.size())), tokenizer.info().name);
  return print_out(out);
}

}  // namespace plimsoll
