// A stream of any bytes, divided anywhere: unchanged parts are passed on as they are, and nothing crashes.
#include <cstdint>
#include <cstdlib>

#include "base/chat_reply.hpp"
#include "gateway/openai/openai_answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  if (size < 2) return 0;
  const std::size_t step = 1 + data[0] % 64;
  const bool tells = (data[1] & 1) != 0, hides = (data[1] & 2) != 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  base::EventSplitter splitter;
  gateway::ReportedStream reported(tells, hides);
  std::string out;
  for (std::size_t at = 0; at < stream.size(); at += step)
    out += reported.pass(splitter.add(stream.substr(at, step)));
  out += reported.pass(splitter.rest());
  out += reported.end(tells ? "\"plimsoll\":{}" : "", {});
  if (!tells && !hides && out != stream) std::abort();
  (void)base::read_facts(stream);
  (void)base::words_in(stream);
  (void)gateway::with_detail(stream, base::said_in_error(stream));
  return 0;
}
