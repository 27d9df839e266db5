#include "base/log.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <nlohmann/json.hpp>

namespace plimsoll::log {
namespace {

struct Output {
  std::shared_ptr<spdlog::logger> logger;
  Format format = Format::text;
};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::trace: return spdlog::level::trace;
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warning: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    case Level::off: return spdlog::level::off;
  }
  return spdlog::level::info;
}

Output make_output(spdlog::sink_ptr sink, Level level, Format format) {
  auto logger = std::make_shared<spdlog::logger>("plimsoll", std::move(sink));
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      format == Format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                             : "%Y-%m-%dT%H:%M:%S.%eZ %^%-7l%$ %v",
      spdlog::pattern_time_type::utc, "\n"));
  logger->set_level(spdlog_level(level));
  logger->flush_on(spdlog::level::trace);  // the last line before a crash is the important one
  return {std::move(logger), format};
}

Output stderr_output(Level level, Format format) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = format == Format::json || (no_color != nullptr && *no_color != '\0');
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(plain ? spdlog::color_mode::never
                                                                          : spdlog::color_mode::automatic);
  return make_output(std::move(sink), level, format);
}

Output& output() {
  static Output current = stderr_output(Level::info, Format::text);
  return current;
}

// Terminals also interpret DEL and the C1 controls, which are C2 80 to C2 9F.
bool has_high_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x7F) return true;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', has_high_control(text), nlohmann::json::error_handler_t::replace);
}

std::string quoted_where_needed(std::string_view text, std::string_view special) {
  std::string quotes = quoted(text);
  const bool plain = quotes.size() == text.size() + 2 && quotes.compare(1, text.size(), text) == 0;
  if (plain && text.find_first_of(special) == std::string_view::npos) return std::string(text);
  return quotes;
}

std::string shown(double value, Format format) {
  if (format == Format::json && !std::isfinite(value)) return "null";
  return fmt::format("{}", value);
}

std::string shown(const Value& value, Format format) {
  return std::visit(
      [format]<typename T>(const T& held) -> std::string {
        if constexpr (std::is_same_v<T, double>) {
          return shown(held, format);
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          if (format == Format::json) return quoted(held);
          return held.empty() ? "\"\"" : quoted_where_needed(held, " =");
        } else {
          return fmt::format("{}", held);
        }
      },
      value.held());
}

[[maybe_unused]] bool is_reserved(std::string_view name) {
  return name == "time" || name == "level" || name == "message";
}

}  // namespace

void start(Level level, Format format) {
  output() = stderr_output(level, format);
}

void start_on(std::ostream& out, Level level, Format format) {
  output() = make_output(std::make_shared<spdlog::sinks::ostream_sink_mt>(out), level, format);
}

bool enabled(Level level) {
  return level != Level::off && output().logger->should_log(spdlog_level(level));
}

void write(Level level, std::string_view message, Fields fields) {
  if (!enabled(level)) return;
  const Format format = output().format;
  const bool json = format == Format::json;
  std::string line = json ? "\"message\":" + quoted(message) : quoted_where_needed(message, "");
  if (!json && fields.size() > 0) line += ' ';
  for (const Field& field : fields) {
    assert(!is_reserved(field.name));
    if (json)
      line += fmt::format(",{}:{}", quoted(field.name), shown(field.value, format));
    else
      line += fmt::format(" {}={}", field.name, shown(field.value, format));
  }
  output().logger->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace plimsoll::log
