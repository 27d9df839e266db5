// Any bytes as source code; the first one says in which language.
#include "ingest/read/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view names[] = {"a.c",   "a.cpp", "a.py", "a.js",   "a.ts",
                                        "a.tsx", "a.go",  "a.rs", "a.java", "a.sh"};
  const std::size_t choice = plimsoll::ingest::take_choice(bytes, std::size(names));
  plimsoll::ingest::read_and_check(bytes, names[choice]);
  return 0;
}
