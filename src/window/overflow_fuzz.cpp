// Any bytes as an error of a server: numbers in range and few words, never a crash.
#include <cstdint>
#include <cstdlib>

#include "plimsoll/window.hpp"
#include "window/overflow.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const auto read : {plimsoll::window::read_overflow, plimsoll::window::read_overflow_event}) {
    const auto overflow = read(body);
    if (!overflow) continue;
    if (overflow->window && (*overflow->window < 1 || *overflow->window > plimsoll::largest_served_window))
      std::abort();
    if (overflow->wanted && *overflow->wanted < 1) std::abort();
    if (overflow->said.size() > 500) std::abort();
  }
  return 0;
}
