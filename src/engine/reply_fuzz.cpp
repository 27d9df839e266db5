// A stream of any bytes, divided anywhere: unchanged parts are passed on as they are, and nothing crashes.
#include <cstdint>
#include <cstdlib>

#include "engine/annotate.hpp"
#include "engine/reply.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::engine;
  if (size < 2) return 0;
  const std::size_t step = 1 + data[0] % 64;
  const bool annotated = (data[1] & 1) != 0, hides = (data[1] & 2) != 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  EventRelay relay({annotated, hides});
  const EventRelay::Fields fields = [] { return std::string("\"plimsoll\":{}"); };
  std::string out;
  for (std::size_t at = 0; at < stream.size(); at += step) out += relay.pass(stream.substr(at, step), fields);
  out += relay.finish(fields);
  if (!annotated && !hides && out != stream) std::abort();
  (void)read_reply(stream);
  (void)with_detail(std::string(stream), said_in_error(stream));
  return 0;
}
