// Callbacks of the Jinja engine during parsing and rendering: limits, and Python's number
// format. Compiled into the engine's library; cmake/jinja.cmake adds the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plimsoll::count::hooks {

// Limits of one rendering. Both are far above the needs of real templates and stop a malicious one within
// seconds and a few hundred megabytes.
inline constexpr std::uint64_t most_steps = 2'000'000;
inline constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;  // of text in total
inline constexpr std::size_t most_stack = std::size_t{1} << 20;

// While one exists on this thread, step() and grow() count against it and throw when it is used up.
class Budget {
 public:
  explicit Budget(std::uint64_t request_bytes);  // a large request gets more
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  std::uint64_t steps = 0;
  std::uint64_t bytes = 0;
  std::uint64_t steps_limit;
  std::uint64_t bytes_limit;
  const char* stack = nullptr;
  std::vector<std::function<void()>> at_end;

 private:
  Budget* outer_;
};

// Counts a step of evaluation or parsing, with a weight; also checks the stack depth.
void step(std::uint64_t weight = 1);

// Counts bytes of produced text.
void grow(std::size_t bytes);

// Registers a call for the end of the rendering.
void at_end(std::function<void()> call);

// 0.5 -> "0.5", 1.0 -> "1.0", 1e16 -> "1e+16": Python's repr.
std::string python_float(double number);

}  // namespace plimsoll::count::hooks
