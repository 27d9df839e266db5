#include "adapters/llama/grammar.hpp"

// The schema comes with a request.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)plimsoll::llama::grammar_of({reinterpret_cast<const char*>(data), size});
  return 0;
}
