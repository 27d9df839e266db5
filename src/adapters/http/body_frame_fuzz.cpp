// Any bytes as a reply: a head and a body, or an error; the same body however the bytes are cut.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "adapters/http/reply_head.hpp"
#include "adapters/http/url.hpp"

namespace {

using namespace plimsoll::adapters;

std::string unpack(BodyFrame frame, std::vector<char> bytes, std::size_t step) {
  std::string body;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min(step, bytes.size() - at);
    const auto taken = frame.take({bytes.data() + at, size});
    if (taken.body > taken.used || taken.used > size) std::abort();
    body.append(bytes.data() + at, taken.body);
    at += taken.used;
    if (frame.has_ended() || frame.is_broken()) break;
    if (taken.used != size) std::abort();
  }
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> bytes(data, data + size);
  HeadReader reader(4096, false);
  std::size_t used = 0;
  HeadState state = HeadState::more;
  for (std::size_t arrived = 1; arrived <= size && state == HeadState::more; ++arrived)
    state = reader.read({bytes.data(), arrived}, used);
  if (state == HeadState::whole) {
    if (used > size) std::abort();
    const std::vector<char> rest(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
    const ReadHead head = reader.take();
    if (unpack(head.body, rest, 1) != unpack(head.body, rest, rest.size() + 1)) std::abort();
  }
  if (unpack(BodyFrame::chunked(), bytes, 3) != unpack(BodyFrame::chunked(), bytes, size + 1)) std::abort();
  const std::string url(bytes.begin(), bytes.end());
  if (const auto split = split_url(url)) (void)read_origin(split->front);
  return 0;
}
