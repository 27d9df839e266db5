// Logging for operators: a short fixed sentence and named values.
//
//   log::info("window found", {{"model", model}, {"window", window}});
//
// goes to stderr as one line, for people
//   2026-11-15T18:20:01.123Z info    window found  model=llama3.2:3b window=8192
// or for machines
//   {"time":"2026-11-15T18:20:01.123Z","level":"info","message":"window
//   found","model":"llama3.2:3b","window":8192}
//
// A line is always one line of valid UTF-8: control characters are escaped and invalid bytes
// become U+FFFD. Thread-safe. A Secret is not a Value, so it cannot be logged by mistake.
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

// Holds views only: valid during the call.
struct Field {
  std::string_view name;  // not "time", "level" or "message", which are reserved
  Value value;
};
using Fields = std::initializer_list<Field>;

// Call once, before other threads run; until then text at `info` goes to stderr. Uses colour if stderr is a
// terminal and NO_COLOR is not set.
void start(Level level, Format format);
// The same for a stream, which must outlive the logging, without colour.
void start_on(std::ostream& out, Level level, Format format);

// Returns whether a line of this level would be written, for values that are expensive to compute.
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
