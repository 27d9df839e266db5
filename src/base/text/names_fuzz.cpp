// Any bytes as a text: names in order, inside it, none of them empty or overlapping, and the same when read
// again. Titles are found by the key that they are stored with.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::base;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Name> names, again;
  read_names(text, names);
  std::uint32_t last = 0;
  for (const Name& name : names) {
    if (name.key.empty() || name.start < last || name.start >= name.end || name.end > size) std::abort();
    last = name.end;
  }
  read_names(text, again);
  if (names != again) std::abort();
  const OpeningNames opening = opening_names(text);
  for (const auto& list : {opening.titles, opening.others})
    for (const std::string& key : list)
      if (key.empty()) std::abort();
  return 0;
}
