// Reads input in blocks, so a file of any size can be counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "plimsoll/count.hpp"

namespace plimsoll {

struct CountedInput {
  Tokens tokens = 0;
  std::uint64_t bytes = 0;
  std::uint64_t characters = 0;     // code points; an invalid byte is one
  std::uint64_t invalid_bytes = 0;  // bytes that are not UTF-8
  bool binary = false;              // has NUL bytes
  std::string document;             // "PDF" or ".docx" if its text was counted; else empty
};

// "-" is standard input. PDF and .docx files are read as documents, and their text is counted. Memory of
// other files is bounded by the longest pre-token. `progress` gets the bytes read.
Result<CountedInput> count_input(const std::string& path, const Tokenizer& tokenizer, Specials specials,
                                 const std::function<void(std::uint64_t)>& progress);

// Calls `line` for each line of standard input, without its newline. bad_input: a line above `limit` bytes.
Result<void> each_line(std::size_t limit,
                       const std::function<Result<void>(std::string_view, std::uint64_t number)>& line);

}  // namespace plimsoll
