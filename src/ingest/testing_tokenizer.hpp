// For tests and fuzzers: a tokenizer that needs no downloads. It has bytes, and the words that the
// tests use.
#pragma once

#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "count/vocabulary/compile.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::ingest {

inline Tokenizer testing_tokenizer() {
  count::Definition definition;
  definition.info.name = "testing";
  definition.by_rank = true;
  definition.whole_piece_first = true;
  definition.splitter = count::Splitter::cl100k;
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte)
    definition.tokens.push_back({std::string(1, static_cast<char>(byte)), id++, 0});
  for (const char* text :
       {"th",   "he",    "the",   " the",  " a",   "in",   "ing", "er", "an",   "on",   "at",
        "en",   "es",    "or",    "is",    " s",   " w",   " o",  " b", " c",   " of",  " to",
        " and", " ship", " line", " deep", "\n\n", "    ", " x",  " =", " one", " two", " word"})
    definition.tokens.push_back({text, id++, 0});
  const auto file = count::compile(definition);
  if (!file) std::abort();
  const int descriptor = ::memfd_create("tokenizer", 0);
  if (descriptor < 0 || ::write(descriptor, file->data(), file->size()) != static_cast<ssize_t>(file->size()))
    std::abort();
  auto tokenizer = Tokenizer::open("/proc/self/fd/" + std::to_string(descriptor));
  ::close(descriptor);
  if (!tokenizer) std::abort();
  return *std::move(tokenizer);
}

}  // namespace plimsoll::ingest
