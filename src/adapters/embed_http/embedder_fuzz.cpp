#include "adapters/embed_http/embedder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::embed_http;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  (void)read_vectors(Dialect::openai, body, 2, 0);
  (void)read_vectors(Dialect::ollama, body, 2, 3);
  return 0;
}
