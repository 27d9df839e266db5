// Any text, with blocks and sections anywhere in it, as a reader could return it.
#include "ingest/builder.hpp"
#include "ingest/read/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  using namespace plimsoll::ingest;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto options = CutOptions{.chunk_tokens = static_cast<Tokens>(30 + take_choice(bytes, 200)),
                                  .sentence_tokens = static_cast<Tokens>(8 + take_choice(bytes, 20)),
                                  .tiny_section_tokens = static_cast<Tokens>(take_choice(bytes, 40))};
  // Up to 32 steps of two bytes each: what, and how far.
  const std::size_t steps = std::min<std::size_t>(take_choice(bytes, 32), bytes.size() / 2);
  const std::string_view program = bytes.substr(0, 2 * steps);
  const std::string_view text = bytes.substr(2 * steps);
  if (!base::is_valid_utf8(text)) return 0;
  Builder into("text/plain", text);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto what = static_cast<unsigned char>(program[2 * i]);
    const auto far = static_cast<unsigned char>(program[2 * i + 1]);
    std::uint64_t end = std::min<std::uint64_t>(at + far, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    if (what % 8 == 7) {
      into.open(1 + what / 8 % 5, "t", at);
    } else if (what % 8 == 6) {
      into.close(1 + what / 8 % 5, at);
    } else if (what % 8 == 5) {
      at = end;  // a gap
    } else {
      into.block(static_cast<BlockKind>(what % 8), {at, end}, into.lead(what > 128 ? "lead" : ""),
                 what / 8 % 2 == 1);
      at = end;
    }
  }
  ReadDocument read = std::move(into).finish();
  stop_at(read_fault(read, text));
  cut_and_check(std::move(read), options);
  return 0;
}
