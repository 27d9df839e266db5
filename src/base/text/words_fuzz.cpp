// Any bytes as a text: words in order, inside it, none of them empty or too long, and the same when read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/words.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::base;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static std::vector<Word> words;
  read_words(text, words);
  std::uint32_t last = 0;
  for (const Word& word : words) {
    if (word.stem.empty() || word.stem.size() > longest_word_bytes) std::abort();
    if (word.start < last || word.start >= word.end || word.end > size) std::abort();
    last = word.start;
  }
  std::vector<Word> again;
  read_words(text, again);
  if (words != again) std::abort();
  return 0;
}
