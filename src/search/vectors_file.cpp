// File format of vectors:  header | chunk ids | document ids | vectors | dead | levels | first upper | ground
// | upper, each aligned to 64 bytes. The vectors stay in the mapped file; links are copied to memory, because
// they change.
#include <algorithm>
#include <cstring>

#include "base/checksum.hpp"
#include "base/files.hpp"
#include "base/mapped_file.hpp"
#include "base/try.hpp"
#include "search/vectors.hpp"
#include "search/vectors_file.hpp"

namespace plimsoll::search {

namespace {

std::string_view padding(std::uint64_t bytes) {
  static constexpr std::array<char, 64> zeros{};
  return {zeros.data(), (64 - bytes % 64) % 64};
}

std::uint64_t padded(std::uint64_t bytes) {
  return bytes + padding(bytes).size();
}

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Computes the checksum of the parts.
std::uint64_t sum_of(std::span<const std::string_view> parts, VectorsHeader header) {
  header.checksum = 0;
  base::Checksum sum;
  sum.update(std::as_bytes(std::span(&header, 1)));
  for (const std::string_view part : parts) sum.update(std::as_bytes(std::span(part)));
  return sum.value();
}

// Collects runs of rows with padding.
class Parts {
 public:
  template <typename T>
  void add(const StableRows<T>& rows) {
    rows.append_bytes(parts_);
    pad(rows.size() * rows.width() * sizeof(T));
  }
  void add(std::string_view bytes) {
    parts_.push_back(bytes);
    pad(bytes.size());
  }
  std::vector<std::string_view>& all() { return parts_; }

 private:
  void pad(std::uint64_t bytes) { parts_.push_back(padding(bytes)); }
  std::vector<std::string_view> parts_;
};

// Reads one run after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  std::span<const T> take(std::size_t count) {
    const std::span<const T> values(reinterpret_cast<const T*>(rest_.data()), count);
    rest_ = rest_.subspan(padded(count * sizeof(T)));
    return values;
  }
  template <typename T>
  void copy(StableRows<T>& rows, std::size_t count) {
    const auto values = take<T>(count * rows.width());
    rows.grow_to(count);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * rows.width()), rows.width(),
                  rows.writable(i));
  }

 private:
  std::span<const std::byte> rest_;
};

tl::unexpected<Error> broken_vectors(std::string_view what) {
  return fail(Errc::damaged, "the vectors file is inconsistent: {}", what);
}

}  // namespace

std::uint64_t bytes_for(const VectorsHeader& header) {
  const std::uint64_t count = header.vectors;
  const std::uint64_t nodes = header.nodes;
  return padded(sizeof(VectorsHeader)) + 2 * padded(count * sizeof(ChunkId)) +
         padded(count * header.dimensions * sizeof(Bf16)) + padded((count + 63) / 64 * 8) + padded(nodes) +
         padded(nodes * 4) + padded(nodes * (Graph::ground_links + 1) * 4) +
         padded(std::uint64_t{header.upper_rows} * (Graph::links + 1) * 4);
}

std::uint64_t checksum_of_vectors(std::span<const std::byte> file) {
  VectorsHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  const auto rest = file.subspan(sizeof(header));
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  return sum_of(std::span(&text, 1), header);
}

template <typename Write>
auto Vectors::with_parts(const View& view, IndexId index, Revision revision, ChunkId highest,
                         const Write& write) const {
  VectorsHeader header;
  header.magic = vectors_magic;
  header.schema = vectors_schema;
  header.dimensions = dimensions();
  header.vectors = static_cast<std::uint32_t>(size());
  header.nodes = static_cast<std::uint32_t>(graph_.size());
  header.upper_rows = static_cast<std::uint32_t>(graph_.saved().upper.size());
  header.entry = graph_.entry();
  header.index = index;
  header.revision = revision;
  header.highest = highest;
  header.bytes = bytes_for(header);

  std::vector<std::uint64_t> dead((size() + 63) / 64);
  for (std::size_t slot = 0; slot < size(); ++slot)
    if (view.is_dead(slot)) dead[slot / 64] |= std::uint64_t{1} << (slot % 64);

  Parts parts;
  parts.all().push_back(padding(sizeof(header)));
  parts.add(chunks_);
  parts.add(documents_);
  parts.add(vectors_);
  parts.add(bytes_of(std::span<const std::uint64_t>(dead)));
  parts.add(graph_.saved().levels);
  parts.add(graph_.saved().first_upper);
  parts.add(graph_.saved().ground);
  parts.add(graph_.saved().upper);
  header.checksum = sum_of(parts.all(), header);
  parts.all().insert(parts.all().begin(), bytes_of(std::span<const VectorsHeader>(&header, 1)));
  return write(std::span<const std::string_view>(parts.all()));
}

Result<void> Vectors::save(const std::filesystem::path& path, const View& view, IndexId index,
                           Revision revision, ChunkId highest) const {
  return with_parts(view, index, revision, highest, [&](std::span<const std::string_view> parts) {
    return base::write_atomically(path, parts);
  });
}

std::string Vectors::bytes(const View& view, IndexId index, Revision revision, ChunkId highest) const {
  return with_parts(view, index, revision, highest, [](std::span<const std::string_view> parts) {
    std::string all;
    for (const std::string_view part : parts) all += part;
    return all;
  });
}

Result<Vectors::Loaded> Vectors::load(const std::filesystem::path& path, IndexId index,
                                      std::uint32_t dimensions, VectorOptions options) {
  TRY(auto mapped, base::MappedFile::open(path));
  const auto file = std::make_shared<const base::MappedFile>(std::move(mapped));
  return read(file->bytes(), file, index, dimensions, options);
}

Result<Vectors::Loaded> Vectors::read(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                      IndexId index, std::uint32_t dimensions, VectorOptions options) {
  VectorsHeader header;
  if (bytes.size() < sizeof(header)) return broken_vectors("it has no header");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != vectors_magic) return broken_vectors("it is not a vectors file");
  if (header.schema != vectors_schema) return broken_vectors("it has another version");
  if (header.index != index || header.dimensions != dimensions)
    return broken_vectors("it belongs to another index");
  if (header.bytes != bytes.size() || header.bytes != bytes_for(header))
    return broken_vectors("its size is wrong");
  if (header.nodes > header.vectors) return broken_vectors("there are more nodes than vectors");
  if (checksum_of_vectors(bytes) != header.checksum) return broken_vectors("it fails its checksum");

  Loaded loaded{std::make_shared<Vectors>(dimensions, options), {}};
  Vectors& all = *loaded.vectors;
  all.owner_ = std::move(owner);
  Reader reader(bytes.subspan(padded(sizeof(header))));
  const auto chunks = reader.take<ChunkId>(header.vectors);
  if (std::adjacent_find(chunks.begin(), chunks.end(), std::greater_equal<>()) != chunks.end() ||
      (!chunks.empty() && chunks.back() > header.highest))
    return broken_vectors("chunk ids do not ascend");
  all.chunks_.begin_with(chunks);
  all.documents_.begin_with(reader.take<DocumentId>(header.vectors));
  all.vectors_.begin_with(reader.take<Bf16>(std::size_t{header.vectors} * dimensions));
  const auto dead = reader.take<std::uint64_t>((std::size_t{header.vectors} + 63) / 64);
  Graph::Saved rows;
  reader.copy(rows.levels, header.nodes);
  reader.copy(rows.first_upper, header.nodes);
  reader.copy(rows.ground, header.nodes);
  reader.copy(rows.upper, header.upper_rows);
  if (!all.graph_.restore(std::move(rows), header.nodes, header.entry))
    return broken_vectors("its links are invalid");
  all.highest_ = header.highest;
  all.revision_ = header.revision;

  std::vector<Removed> removed;
  for (std::size_t slot = 0; slot < header.vectors; ++slot)
    if (((dead[slot / 64] >> (slot % 64)) & 1U) != 0) removed.push_back({chunks[slot], chunks[slot]});
  loaded.view = all.view(nullptr, removed);
  return loaded;
}

}  // namespace plimsoll::search
