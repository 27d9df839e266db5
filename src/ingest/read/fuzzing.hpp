// For the fuzzers of this folder: any bytes give a consistent document, or an error with a
// message.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/cut.hpp"
#include "ingest/read/read.hpp"
#include "ingest/testing.hpp"
#include "ingest/testing_tokenizer.hpp"

namespace plimsoll::ingest {

inline void stop_at(const std::string& fault) {
  if (fault.empty()) return;
  std::fprintf(stderr, "%s\n", fault.c_str());
  std::abort();
}

inline ReadOptions fuzzing_options() {
  ReadOptions options;
  options.parse_time = std::chrono::milliseconds(3000);
  options.max_document_bytes = std::uint64_t{1} << 20;
  options.pdftotext = "no-such-program";
  return options;
}

inline void cut_and_check(ReadDocument read, const CutOptions& options) {
  static const Tokenizer tokenizer = testing_tokenizer();
  const auto document = cut(std::move(read), tokenizer, options);
  stop_at(document ? cut_fault(*document, tokenizer, options) : document.error().what);
}

inline void read_and_check(std::string_view bytes, std::string_view name) {
  auto read = read_document(bytes, name, fuzzing_options());
  if (!read) {
    if (read.error().what.empty()) std::abort();
    return;
  }
  stop_at(read_fault(*read, bytes));
  cut_and_check(*std::move(read), {.chunk_tokens = 60, .sentence_tokens = 30});
}

// Removes the first byte and uses it to choose among `count`.
inline std::size_t take_choice(std::string_view& bytes, std::size_t count) {
  if (bytes.empty()) return 0;
  const auto choice = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return choice % count;
}

}  // namespace plimsoll::ingest
