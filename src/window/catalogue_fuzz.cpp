// Any bytes as a model's name, and as a catalogue: an answer or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plimsoll/models.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plimsoll::ModelCatalogue catalogue = *plimsoll::ModelCatalogue::built_in();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto found = catalogue.find(text); found && (found->card == nullptr || found->card->window < 1))
    std::abort();
  plimsoll::ModelCatalogue extended = catalogue;
  if (const auto done = extended.extend(text, "fuzz.toml"); !done) {
    if (done.error().what.empty() || extended.models().size() != catalogue.models().size()) std::abort();
  }
  return 0;
}
