// The metadata at the start of a GGUF file: keys with strings, numbers and lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::count {

// Keys and texts are views of the file.
struct GgufMetadata {
  std::unordered_map<std::string_view, std::string_view> texts;
  std::unordered_map<std::string_view, std::int64_t> numbers;
  std::unordered_map<std::string_view, std::vector<std::string_view>> text_lists;
  std::unordered_map<std::string_view, std::vector<double>> number_lists;

  std::string text(std::string_view key) const;  // empty if missing
  std::int64_t number(std::string_view key, std::int64_t otherwise) const;
};

// Does not read the weights. bad_input: not a GGUF file, or truncated; unsupported: another version or
// an unsupported list.
Result<GgufMetadata> read_gguf_metadata(std::string_view file);

}  // namespace plimsoll::count
