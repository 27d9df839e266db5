// What the Jinja engine asks of us while it parses and renders: whether it may go on, and how Python
// would write a number. Compiled into the engine's library; cmake/jinja.cmake puts the calls in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plimsoll::count::hooks {

// What one rendering may use. Both are far above any real template's need and end a hostile one within
// seconds and a few hundred megabytes.
inline constexpr std::uint64_t most_steps = 2'000'000;
inline constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;  // of text put together, all in all
inline constexpr std::size_t most_stack = std::size_t{1} << 20;

// While one is alive on this thread, step() and grow() count against it; they throw when it is used up.
class Budget {
 public:
  explicit Budget(std::uint64_t request_bytes);  // a large request may take more
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

// One thing evaluated or parsed, or one that takes as long as several; also looks how deep the stack is.
void step(std::uint64_t weight = 1);

// This many bytes of text were put together.
void grow(std::size_t bytes);

// To be called when the rendering is over.
void at_end(std::function<void()> call);

// 0.5 -> "0.5", 1.0 -> "1.0", 1e16 -> "1e+16": Python's repr.
std::string python_float(double number);

}  // namespace plimsoll::count::hooks
