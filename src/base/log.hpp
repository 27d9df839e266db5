// What the program tells its operator: a short fixed sentence and named values.
//
//   log::info("window found", {{"model", model}, {"window", window}});
//
// goes to stderr as one line, for people
//   2026-11-15T18:20:01.123Z info    window found  model=llama3.2:3b window=8192
// or for machines
//   {"time":"2026-11-15T18:20:01.123Z","level":"info","message":"window
//   found","model":"llama3.2:3b","window":8192}
//
// Whatever a value holds, a line stays one line and valid UTF-8: control characters are escaped and
// broken bytes become U+FFFD. Any thread may log. A Secret is no Value, so it cannot be logged by mistake.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>

namespace plimsoll::log {

enum class Level : std::uint8_t { trace, debug, info, warning, error, off };
enum class Format : std::uint8_t { text, json };

class Value {
 public:
  Value(bool value) : held_(value) {}
  Value(std::signed_integral auto value) : held_(static_cast<std::int64_t>(value)) {}
  Value(std::unsigned_integral auto value) : held_(static_cast<std::uint64_t>(value)) {}
  Value(std::floating_point auto value) : held_(static_cast<double>(value)) {}
  Value(const char* value) : held_(std::string_view(value)) {}
  Value(std::string_view value) : held_(value) {}
  Value(const std::string& value) : held_(std::string_view(value)) {}

  const auto& held() const { return held_; }

 private:
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view> held_;
};

// Views only: a field lives as long as the call it is part of.
struct Field {
  std::string_view name;  // not "time", "level" or "message", which every line has
  Value value;
};
using Fields = std::initializer_list<Field>;

// Once, before other threads run; until then text at `info` goes to stderr. Colour where stderr is a
// terminal and NO_COLOR is not set.
void start(Level level, Format format);
// The same on a stream that outlives the logging, without colour.
void start_on(std::ostream& out, Level level, Format format);

// Whether such a line would be written: for values that are dear to compute.
bool enabled(Level level);

void write(Level level, std::string_view message, Fields fields);

inline void trace(std::string_view message, Fields fields = {}) {
  write(Level::trace, message, fields);
}
inline void debug(std::string_view message, Fields fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
  write(Level::info, message, fields);
}
inline void warning(std::string_view message, Fields fields = {}) {
  write(Level::warning, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
  write(Level::error, message, fields);
}

}  // namespace plimsoll::log
