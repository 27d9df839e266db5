// Any bytes as Markdown.
#include "ingest/read/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plimsoll::ingest::read_and_check(bytes, "a.md");
  return 0;
}
