#include <cstdint>
#include <cstdlib>

#include "memory/reasoning.hpp"

// A summary must not contain reasoning, whatever a model wrote; clean text is not changed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string clean = plimsoll::memory::without_reasoning(text);
  if (clean.size() > text.size()) std::abort();
  for (const std::string_view mark : {"<think>", "</think>", "<thinking>", "<reasoning>", "</thought>"})
    if (clean.find(mark) != std::string::npos) std::abort();
  if (plimsoll::memory::without_reasoning(clean) != clean) std::abort();
  return 0;
}
