#include "terminal/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include "base/text/text.hpp"

namespace plimsoll {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

std::string padded(const std::string& cell, std::size_t width, bool right) {
  const std::size_t own = display_width(cell);
  const std::string space(width > own ? width - own : 0, ' ');
  return right ? space + cell : cell + space;
}

// Shortens a cell from the left: the end of a path is more useful than its start.
std::string shortened(const std::string& cell, std::size_t width) {
  std::string_view rest = cell;
  while (display_width(rest) + 1 > width && !rest.empty()) {
    rest.remove_prefix(1);
    while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xC0) == 0x80) rest.remove_prefix(1);
  }
  return "…" + std::string(rest);
}

}  // namespace

Terminal terminal_of_stdout() {
  if (::isatty(STDOUT_FILENO) == 0) return {};
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return {.columns = known ? size.ws_col : std::size_t{80},
          .colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb"};
}

Result<void> print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail(Errc::io_failed, "cannot write to standard output");
  return {};
}

std::string as_argument(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:=@+,%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return out + "'";
}

std::string pages_text(std::uint64_t first, std::uint64_t last) {
  if (first == 0) return {};
  return last > first ? fmt::format(", pages {}-{}", first, last) : fmt::format(", page {}", first);
}

std::string several(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", base::with_thousands(static_cast<std::int64_t>(count)), noun,
                     count == 1 ? "" : "s");
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t code_point = 0;
    const auto size = utf8proc_iterate(at, left, &code_point);
    const auto step = size > 0 ? size : 1;
    width += size > 0 ? static_cast<std::size_t>(std::max(0, utf8proc_charwidth(code_point))) : 1;
    at += step;
    left -= step;
  }
  return width;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  for (std::size_t shown = 0; left > 0; ++shown) {
    if (shown == most) return out + "…";
    utf8proc_int32_t code_point = 0;
    const auto size = utf8proc_iterate(at, left, &code_point);
    const auto category = size > 0 ? utf8proc_category(code_point) : UTF8PROC_CATEGORY_CN;
    const bool shows = category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CF &&
                       category != UTF8PROC_CATEGORY_ZL && category != UTF8PROC_CATEGORY_ZP &&
                       category != UTF8PROC_CATEGORY_CN;
    const auto step = size > 0 ? size : 1;
    out += shows ? std::string(reinterpret_cast<const char*>(at), static_cast<std::size_t>(step)) : "\uFFFD";
    at += step;
    left -= step;
  }
  return out;
}

std::string draw(const Table& table, const Terminal& terminal) {
  const std::size_t columns = table.header.size();
  std::vector<std::size_t> widths(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    widths[c] = display_width(table.header[c]);
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::size_t whole = 2 * (columns - 1);
  for (const std::size_t width : widths) whole += width;
  constexpr std::size_t least_name = 12;
  if (terminal.columns != 0 && whole > terminal.columns && widths[0] > least_name)
    widths[0] -= std::min(widths[0] - least_name, whole - terminal.columns);

  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < columns; ++c) {
      if (c > 0) text += "  ";
      const std::string& cell = cells[c];
      text += padded(c == 0 && display_width(cell) > widths[0] ? shortened(cell, widths[0]) : cell, widths[c],
                     table.right[c]);
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  if (terminal.colour) out += "\033[1m";
  line(table.header);
  if (terminal.colour) out += "\033[0m";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (table.total && r + 1 == table.rows.size()) {
      std::size_t rule = 2 * (columns - 1);
      for (const std::size_t width : widths) rule += width;
      for (std::size_t i = 0; i < rule; ++i) out += "─";
      out += '\n';
    }
    line(table.rows[r]);
  }
  return out;
}

std::string bar(double share, std::size_t width) {
  static constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const bool over = share > 1;
  const auto cells =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width) * 8));
  std::string out;
  for (std::size_t i = 0; i < cells / 8; ++i) out += "█";
  out += eighths[cells % 8];
  const std::size_t drawn = cells / 8 + (cells % 8 != 0 ? 1 : 0);
  for (std::size_t i = drawn; i < width; ++i) out += "·";
  return over ? out + "!" : out;
}

std::string bold(const Terminal& terminal, std::string_view text) {
  return terminal.colour ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::size_t drawing_width(const Terminal& terminal) {
  constexpr std::size_t on_paper = 80, least = 24, most = 120;
  return std::clamp(terminal.columns == 0 ? on_paper : terminal.columns, least, most);
}

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t size = display_width(word);
    if (column > indent && column + 1 + size > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += size;
    begin = end + 1;
  }
  return out;
}

}  // namespace plimsoll
