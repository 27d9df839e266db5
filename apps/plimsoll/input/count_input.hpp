// Reading what is to be counted, a stretch at a time, so that a file of any size fits.
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
  std::uint64_t invalid_bytes = 0;  // bytes that are no UTF-8
  bool binary = false;              // has NUL bytes
  std::string document;             // "PDF" or ".docx": what was counted is the text of it; else empty
};

// "-" is standard input. PDF and .docx files are read as documents, and their text is counted. Memory of
// other files is bounded by the longest pre-token. `progress` is told the bytes read.
Result<CountedInput> count_input(const std::string& path, const Tokenizer& tokenizer, Specials specials,
                                 const std::function<void(std::uint64_t)>& progress);

// Calls `line` for each line of standard input, without its end. More than `limit` bytes in one: bad_input.
Result<void> each_line(std::size_t limit,
                       const std::function<Result<void>(std::string_view, std::uint64_t number)>& line);

}  // namespace plimsoll
