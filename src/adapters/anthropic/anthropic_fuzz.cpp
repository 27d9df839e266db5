// Any bytes as a request, and as what the server replies, cut anywhere: a translation or an error, never a
// crash.
#include <cstdint>
#include <cstdlib>

#include "adapters/anthropic/event_reader.hpp"
#include "adapters/anthropic/from_anthropic.hpp"
#include "adapters/anthropic/to_anthropic.hpp"

namespace {

using namespace plimsoll::anthropic;

std::string events_of(std::string_view bytes, std::size_t step) {
  EventReader reader;
  EventWriter writer({"chatcmpl-1", 1, "m"});
  std::string events;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    if (!reader.add(bytes.substr(at, step))) return events;
    while (const auto data = reader.next())
      if (!writer.take(*data, events)) return events;
  }
  if (const auto data = reader.last()) (void)writer.take(*data, events);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plimsoll::UpstreamRequest request;
  request.body = bytes;
  for (const bool refuse : {false, true}) {
    request.refuse_inexpressible = refuse;
    const auto translated = to_anthropic(request);
    if (refuse && translated && !translated->left_out.empty()) std::abort();
  }
  if (events_of(bytes, 1) != events_of(bytes, size + 1)) std::abort();
  (void)to_completion(bytes, {"chatcmpl-1", 1, "m"});
  if (to_error(500, bytes).empty()) std::abort();
  return 0;
}
