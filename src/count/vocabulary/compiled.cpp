#include "count/vocabulary/compiled.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "base/checksum.hpp"

namespace plimsoll::count {
namespace {

// Change the version with any change of layout or compilation: older files are recompiled.
constexpr std::array<char, 8> magic{'P', 'T', 'O', 'K', '0', '0', '0', '5'};
constexpr std::size_t alignment = 64;
constexpr std::size_t section_count = 16;

struct Section {
  std::uint64_t offset, size;
};
struct Header {
  std::array<char, 8> magic;
  std::uint64_t file_size;
  std::array<Section, section_count> sections;
  std::uint64_t contents_check;  // of everything after the header
  std::uint64_t check;           // of the fields above
};

// The list of sections, for reading and writing.
template <typename C, typename F>
void each_section(C& c, F&& f) {
  f(c.info), f(c.split_steps), f(c.bytes), f(c.offsets), f(c.ids), f(c.numbers), f(c.trie), f(c.pairs),
      f(c.pair_filter), f(c.rows), f(c.seams), f(c.scores), f(c.added_trie), f(c.added), f(c.added_offsets),
      f(c.added_bytes);
}

constexpr std::size_t aligned(std::size_t size) {
  return (size + alignment - 1) / alignment * alignment;
}

constexpr std::size_t config_at = aligned(sizeof(Header));

std::uint64_t sum_of(std::string_view bytes) {
  base::Checksum sum;
  sum.update(std::as_bytes(std::span(bytes)));
  return sum.value();
}

}  // namespace

Result<Compiled> view_compiled(std::string_view file) {
  static_assert(std::is_trivially_copyable_v<CompiledConfig> && std::is_trivially_copyable_v<TrieNode>);
  if (file.size() < config_at + sizeof(CompiledConfig))
    return fail(Errc::damaged, "the file has {} bytes, too few for a compiled tokenizer", file.size());
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != magic)
    return fail(Errc::damaged, "the file is not a compiled tokenizer of this version");
  if (header.check != sum_of(file.substr(0, offsetof(Header, check))))
    return fail(Errc::damaged, "the header of the compiled tokenizer is damaged");
  if (header.file_size != file.size())
    return fail(Errc::damaged, "the compiled tokenizer has {} bytes instead of {}", file.size(),
                header.file_size);

  Compiled compiled;
  std::size_t i = 0;
  bool whole = true;
  each_section(compiled, [&](auto& view) {
    const Section section = header.sections[i++];
    using View = std::remove_cvref_t<decltype(view)>;
    using Element = std::remove_cvref_t<decltype(*view.data())>;
    if (section.offset % alignment != 0 || section.size % sizeof(Element) != 0 ||
        section.offset > file.size() || section.size > file.size() - section.offset) {
      whole = false;
      return;
    }
    view =
        View(reinterpret_cast<const Element*>(file.data() + section.offset), section.size / sizeof(Element));
  });
  const bool counts_agree = compiled.offsets.size() == compiled.ids.size() + 1 &&
                            std::has_single_bit(std::max<std::size_t>(1, compiled.pairs.size())) &&
                            std::has_single_bit(std::max<std::size_t>(1, compiled.pair_filter.size())) &&
                            compiled.added_offsets.size() == compiled.added.size() + 1;
  if (!whole || !counts_agree)
    return fail(Errc::damaged, "the sections of the compiled tokenizer do not fit its file");
  if (header.contents_check != sum_of(file.substr(sizeof header)))
    return fail(Errc::damaged, "the compiled tokenizer fails its checksum");
  std::memcpy(&compiled.config, file.data() + config_at, sizeof compiled.config);
  return compiled;
}

std::string write_compiled(const Compiled& compiled) {
  Header header{};
  header.magic = magic;
  std::string file(config_at, '\0');
  file.append(reinterpret_cast<const char*>(&compiled.config), sizeof compiled.config);
  std::size_t i = 0;
  each_section(compiled, [&](const auto& view) {
    file.resize(aligned(file.size()));
    const std::size_t size = view.size() * sizeof(*view.data());
    header.sections[i++] = {file.size(), size};
    if (size != 0) file.append(reinterpret_cast<const char*>(view.data()), size);
  });
  header.file_size = file.size();
  header.contents_check = sum_of(std::string_view(file).substr(sizeof header));
  header.check = sum_of({reinterpret_cast<const char*>(&header), offsetof(Header, check)});
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

PairTable::Built PairTable::build(std::span<const Entry> entries) {
  // At most 5 of 8 slots are used; the filter has 8 bits per pair, so one absent pair in nine passes it.
  Built built;
  built.slots.assign(std::bit_ceil(std::max<std::size_t>(2, entries.size() * 8 / 5)), empty);
  built.filter.assign(std::bit_ceil(std::max<std::size_t>(2, entries.size() / 8)), 0);
  const std::size_t mask = built.slots.size() - 1;
  for (const Entry& entry : entries) {
    const std::uint64_t wanted = key(entry.left, entry.right);
    const std::uint64_t mixed = hash(wanted);
    const std::size_t bit = filter_place(mixed) & (built.filter.size() * 64 - 1);
    built.filter[bit >> 6] |= std::uint64_t{1} << (bit & 63);
    std::size_t i = slot_place(mixed) & mask;
    while (built.slots[i] != empty && built.slots[i] >> number_bits != wanted) i = (i + 1) & mask;
    if (built.slots[i] == empty) built.slots[i] = wanted << number_bits | entry.result;
  }
  return built;
}

}  // namespace plimsoll::count
