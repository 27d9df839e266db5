// Any bytes as traceparent and tracestate: no context, or one that reads the same when it is written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text/trace_context.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  const std::string_view state = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  const TraceContext context = base::read_trace_context(text.substr(0, end), state);
  if (!context.is_known()) return context == TraceContext{} ? 0 : (std::abort(), 1);
  if (!(base::read_trace_context(base::traceparent(context), context.state) == context)) std::abort();
  return 0;
}
