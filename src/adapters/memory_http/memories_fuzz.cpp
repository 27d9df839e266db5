#include "adapters/memory_http/provider.hpp"

// What another memory answers may be anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)plimsoll::memory_http::read_memories({reinterpret_cast<const char*>(data), size});
  return 0;
}
