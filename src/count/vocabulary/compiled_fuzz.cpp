// A compiled tokenizer that was damaged: opening it is an error or works, and never crashes. The input is a
// list of changes to a file that is whole: two bytes of place, one of value each; a first byte of 255 cuts
// the file short.
#include <cstdlib>
#include <string>

#include "count/vocabulary/compile.hpp"
#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/file_fuzz.hpp"

namespace {

const std::string& whole_file() {
  using namespace plimsoll::count;
  static const std::string file = [] {
    Definition definition;
    definition.info.name = "small";
    definition.by_rank = true;
    for (unsigned byte = 0; byte < 256; ++byte)
      definition.tokens.push_back({std::string(1, static_cast<char>(byte)), byte, 0});
    for (const char* text : {"th", "the", "in", "ing", " t", " the"})
      definition.tokens.push_back({text, static_cast<plimsoll::TokenId>(definition.tokens.size()), 0});
    definition.added.push_back({.text = "<|end|>", .id = 300, .special = true});
    definition.splitter = Splitter::cl100k;
    auto made = compile(definition);
    if (!made) std::abort();
    return *made;
  }();
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  std::string file = whole_file();
  if (size > 2 && data[0] == 255) {
    file.resize((std::size_t{data[1]} << 8 | data[2]) % file.size());
    data += 3, size -= 3;
  }
  bool changed = file.size() != whole_file().size();
  for (; size >= 3 && !file.empty(); data += 3, size -= 3) {
    // The header is small compared with the arrays, so it is changed at least every other time.
    std::size_t place = std::size_t{data[0]} << 8 | data[1];
    place = data[0] & 1 ? place % std::min<std::size_t>(file.size(), 4096) : place * 7 % file.size();
    changed = changed || file[place] != static_cast<char>(data[2]);
    file[place] = static_cast<char>(data[2]);
  }
  const auto view = count::view_compiled(file);
  const auto tokenizer = Tokenizer::open(count::FuzzFile(file).path());
  count::expect(changed || (view && tokenizer && tokenizer->count(" the thing") == 4),
                "the whole file does not count");
  count::expect(view || !tokenizer, "a file that cannot be viewed was opened");
  return 0;
}
