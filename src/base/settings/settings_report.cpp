#include "base/settings/settings_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plimsoll::base {
namespace {

constexpr std::size_t gap = 2;                 // blanks between two columns
constexpr std::size_t widest_value = 40;       // longer values and origins are wrapped to leave room
constexpr std::size_t narrowest_meaning = 30;  // a narrower column is hard to read
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view plain = "\x1b[0m";

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += c;
  }
  return shown;
}

// Returns the number of bytes in the first `width` characters.
std::size_t prefix_bytes(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (starts_character(text[at]) && width-- == 0) break;
    ++at;
  }
  return at;
}

// Wraps text to lines of at most `width` characters, at blanks or inside a word longer than a line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width_of(text) > width) {
    const std::size_t limit = prefix_bytes(text, width);
    std::size_t blank = text.rfind(' ', limit);
    if (blank == 0 || blank == std::string_view::npos) {
      lines.emplace_back(text.substr(0, limit));
      text.remove_prefix(limit);
    } else {
      lines.emplace_back(text.substr(0, blank));
      text.remove_prefix(blank + 1);
    }
  }
  lines.emplace_back(text);
  return lines;
}

struct Row {
  std::array<std::string, 4> cells;  // key, value, origin, meaning
  bool is_default = false;
};

std::string_view colour_of(std::size_t column, const Row& row) {
  if (column == 0) return bold;
  if (column == 2) return row.is_default ? dim : green;
  return {};
}

std::string painted(std::string_view text, std::string_view colour, const Page& page) {
  if (!page.colour || colour.empty() || text.empty()) return std::string(text);
  return fmt::format("{}{}{}", colour, text, plain);
}

std::string side_by_side(const Row& row, const std::array<std::size_t, 4>& widths, const Page& page) {
  std::array<std::vector<std::string>, 4> columns;
  std::size_t height = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i] = wrapped(row.cells[i], widths[i]);
    height = std::max(height, columns[i].size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string out;
    std::size_t pending = 0;  // blanks before the next cell; avoids trailing blanks
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = line < columns[i].size() ? columns[i][line] : "";
      if (!cell.empty()) {
        out.append(pending, ' ');
        out += painted(cell, colour_of(i, row), page);
        pending = 0;
      }
      pending += widths[i] - width_of(cell) + gap;
    }
    text += out + '\n';
  }
  return text;
}

// "min_top_k = 2  (default)", and the meaning below.
std::string stacked(const Row& row, std::size_t columns, const Page& page) {
  const std::size_t indent = std::min<std::size_t>(4, columns / 4);
  const auto block = [&](std::string_view text, std::size_t by, std::string_view colour) {
    std::string out;
    for (const std::string& line : wrapped(text, columns - by))
      out += std::string(by, ' ') + painted(line, colour, page) + '\n';
    return out;
  };
  const auto& [key, value, origin, meaning] = row.cells;
  const std::string colour(colour_of(2, row));
  const std::string one_line = fmt::format("{} = {}  ({})", key, value, origin);
  std::string text;
  if (width_of(one_line) <= columns)
    text = fmt::format("{} = {}  {}\n", painted(key, bold, page), value,
                       painted(fmt::format("({})", origin), colour, page));
  else
    text = block(key, 0, bold) + block("= " + value, indent, {}) +
           block(fmt::format("({})", origin), indent, colour);
  return text + block(meaning, indent, {});
}

}  // namespace

std::string settings_table(const SettingParts& settings, std::span<const Setting* const> which,
                           const Page& page) {
  std::vector<Row> rows;
  std::array<std::size_t, 4> widths{};
  for (const Setting* setting : which) {
    const std::string_view origin = settings.origin_of(setting->key);
    Row row{{std::string(setting->key), printable(shown_text(settings, *setting)), printable(origin),
             std::string(setting->meaning)},
            origin == "default"};
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row.cells[i]));
    rows.push_back(std::move(row));
  }

  bool table = true;
  if (page.columns) {
    if (widths[0] + widths[1] + widths[2] + widths[3] + 3 * gap > *page.columns) {
      widths[1] = std::min(widths[1], widest_value);
      widths[2] = std::min(widths[2], widest_value);
    }
    const std::size_t others = widths[0] + widths[1] + widths[2] + 3 * gap;
    table = others + std::min(widths[3], narrowest_meaning) <= *page.columns;
    if (table) widths[3] = std::min(widths[3], *page.columns - others);
  }

  std::string text;
  for (const Row& row : rows)
    text +=
        table ? side_by_side(row, widths, page) : stacked(row, std::max<std::size_t>(*page.columns, 8), page);
  return text;
}

std::string settings_json(const SettingParts& settings, std::span<const Setting* const> which) {
  using Json = nlohmann::ordered_json;
  const auto json_of = [](const ShownValue& value) {
    return std::visit(
        []<typename T>(const T& held) {
          if constexpr (std::is_same_v<T, std::monostate>)
            return Json();
          else
            return Json(held);
        },
        value);
  };
  Json list = Json::array();
  for (const Setting* setting : which) {
    Json names = Json::array();
    if (!setting->environment.empty()) names.push_back(setting->environment);
    names.push_back(setting->prefixed_environment());
    Json entry;
    entry["key"] = setting->key;
    entry["value"] = json_of(shown_value(settings, *setting));
    entry["origin"] = settings.origin_of(setting->key);
    entry["allowed"] = allowed_values(*setting);
    entry["environment"] = std::move(names);
    entry["meaning"] = setting->meaning;
    list.push_back(std::move(entry));
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<std::vector<const Setting*>> select_settings(SettingList all, std::span<const std::string> keys) {
  std::vector<const Setting*> which;
  if (keys.empty())
    for (const Setting& setting : all) which.push_back(&setting);
  for (const std::string& key : keys) {
    const Setting* setting = find_setting(all, key);
    if (setting == nullptr) return unknown_setting(all, key, "command line");
    which.push_back(setting);
  }
  return which;
}

}  // namespace plimsoll::base
