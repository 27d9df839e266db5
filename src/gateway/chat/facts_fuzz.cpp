#include "gateway/chat/extraction.hpp"

// A model was asked for a list of facts, and may have written anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)plimsoll::gateway::read_facts({reinterpret_cast<const char*>(data), size});
  return 0;
}
