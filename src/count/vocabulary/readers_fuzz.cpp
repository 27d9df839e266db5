// Any bytes as a tokenizer's definition: an error with a message, or a definition; a small one must
// compile and count.
#include <cstdlib>
#include <string>

#include "count/vocabulary/compile.hpp"
#include "count/vocabulary/file_fuzz.hpp"
#include "count/vocabulary/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  using namespace plimsoll::count;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto definition = read_definition(bytes, "", "fuzz");
  if (!definition) return expect(!definition.error().what.empty(), "an error without a word"), 0;
  // Compiling tries random merges, which is too slow for every input.
  if (definition->tokens.size() > 300 || definition->added.size() > 300) return 0;
  const auto file = compile(*definition);
  if (!file) return expect(!file.error().what.empty(), "an error without a word"), 0;
  const auto tokenizer = Tokenizer::open(FuzzFile(*file).path());
  if (!tokenizer) expect(false, tokenizer.error().what.c_str());
  const std::string_view text = bytes.substr(0, 200);
  for (const Specials specials : {Specials::plain, Specials::parsed}) {
    const auto ids = tokenizer->encode(text, specials);
    const auto count = static_cast<Tokens>(ids.size());
    expect(tokenizer->count(text, specials) == count, "count and encode differ", text);
    expect(tokenizer->decode(ids).has_value(), "an id of its own cannot be decoded", text);
    Counter counter(*tokenizer, specials);
    for (const char c : text) counter.append({&c, 1});
    expect(counter.total() == count, "Counter and encode differ", text);
  }
  return 0;
}
