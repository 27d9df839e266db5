// Any bytes as a trace: an error with a message, or a trace that round-trips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "plimsoll/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = plimsoll::read_trace({reinterpret_cast<const char*>(data), size});
  if (!trace) return trace.error().what.empty() ? std::abort(), 1 : 0;
  const std::string text = plimsoll::trace_json(*trace);
  if (text.find('\n') != std::string::npos) std::abort();
  const auto again = plimsoll::read_trace(text);
  if (!again || plimsoll::trace_json(*again) != text) std::abort();
  return 0;
}
