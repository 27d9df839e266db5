// Any bytes as a request, and as what Ollama replies, cut anywhere: a translation or an error, never a crash.
#include <cstdint>
#include <cstdlib>

#include "adapters/ollama/from_ollama.hpp"
#include "adapters/ollama/to_ollama.hpp"

namespace {

using namespace plimsoll::ollama;

std::string events_of(std::string_view bytes, std::size_t step) {
  LineReader lines;
  EventWriter writer({"chatcmpl-1", 1, "m"});
  std::string events;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    if (!lines.add(bytes.substr(at, step))) return events;
    while (const auto line = lines.next())
      if (!writer.take(*line, events)) return events;
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plimsoll::UpstreamRequest request;
  request.body = bytes;
  for (const bool refuse : {false, true}) {
    request.refuse_inexpressible = refuse;
    const auto translated = to_ollama(request);
    if (refuse && translated && !translated->left_out.empty()) std::abort();
    (void)to_ollama(request, Purpose::render);
  }
  if (events_of(bytes, 1) != events_of(bytes, size + 1)) std::abort();
  (void)to_completion(bytes, {"chatcmpl-1", 1, "m"});
  if (to_error(500, bytes).empty()) std::abort();
  (void)rendered_in(bytes);
  return 0;
}
