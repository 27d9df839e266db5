// Any bytes as the windows file: an error, or windows that round-trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "models/window_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace engine = plimsoll::engine;
  const auto windows = engine::read_windows({reinterpret_cast<const char*>(data), size});
  if (!windows) return windows.error().what.empty() ? std::abort(), 1 : 0;
  for (const engine::KeptWindow& kept : *windows)
    if (kept.report.window.tokens < 1 || kept.report.window.tokens > plimsoll::largest_served_window)
      std::abort();
  const std::string text = engine::write_windows(*windows);
  const auto again = engine::read_windows(text);
  if (!again || again->size() != windows->size() || engine::write_windows(*again) != text) std::abort();
  return 0;
}
