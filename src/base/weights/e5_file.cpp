#include "base/weights/e5_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/try.hpp"

namespace plimsoll::base {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view e5_magic = "E5S1";
constexpr std::uint32_t e5_version = 1;
constexpr std::uint32_t e5_block = 32;      // values
constexpr std::size_t e5_block_bytes = 18;  // a half float and 16 bytes
constexpr std::uint32_t e5_most = 1 << 30;  // of anything that is counted: far above what the model has

// Takes numbers and bytes from the front.
class E5Reader {
 public:
  explicit E5Reader(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

  Result<std::string_view> take(std::uint64_t bytes, std::string_view what) {
    if (bytes > rest_.size())
      return fail(Errc::bad_input, "the file ends in the {}, at byte {}: {} more are missing", what, size_,
                  bytes - rest_.size());
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  template <typename T>
  Result<T> number(std::string_view what) {
    TRY(const std::string_view bytes, take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  // A count of something, from 1.
  Result<std::uint32_t> count(std::string_view what) {
    TRY(const auto value, number<std::uint32_t>(what));
    if (value == 0 || value > e5_most) return fail(Errc::bad_input, "the {} cannot be {}", what, value);
    return value;
  }

 private:
  std::string_view rest_;
  std::size_t size_;
};

template <typename T>
T e5_number_at(std::string_view bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof value);
  return value;
}

Result<E5Shape> read_shape(E5Reader& reader) {
  E5Shape shape;
  TRY(shape.width, reader.count("width"));
  TRY(shape.layers, reader.count("number of layers"));
  TRY(shape.heads, reader.count("number of heads"));
  TRY(shape.inner, reader.count("inner width"));
  TRY(shape.vocabulary, reader.count("size of the vocabulary"));
  TRY(shape.positions, reader.count("number of positions"));
  TRY(shape.types, reader.count("number of types"));
  TRY(shape.epsilon, reader.number<float>("header"));
  TRY(const auto block, reader.number<std::uint32_t>("header"));
  if (block != e5_block)
    return fail(Errc::bad_input, "its blocks have {} values; only {} are supported", block, e5_block);
  if (shape.width % shape.heads != 0 || shape.width % e5_block != 0 || shape.inner % e5_block != 0)
    return fail(Errc::bad_input, "the widths {} and {} do not go with {} heads and blocks of {}", shape.width,
                shape.inner, shape.heads, e5_block);
  return shape;
}

Result<std::vector<E5Piece>> read_pieces(E5Reader& reader, std::uint32_t count, std::uint64_t text_bytes) {
  TRY(const auto ends, reader.take((std::uint64_t{count} + 1) * 4, "vocabulary"));
  TRY(const auto scores, reader.take(std::uint64_t{count} * 4, "vocabulary"));
  TRY(const auto texts, reader.take(text_bytes, "vocabulary"));
  std::vector<E5Piece> pieces;
  pieces.reserve(count);
  auto begin = e5_number_at<std::uint32_t>(ends, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto end = e5_number_at<std::uint32_t>(ends, i + 1);
    if (begin > end || end > texts.size())
      return fail(Errc::bad_input, "token {} is at bytes {} to {} of {}", i, begin, end, texts.size());
    pieces.push_back({texts.substr(begin, end - begin), e5_number_at<float>(scores, i)});
    begin = end;
  }
  return pieces;
}

Result<void> read_vocabulary(E5Reader& reader, E5File& file) {
  TRY(const auto count, reader.count("number of tokens"));
  for (std::uint32_t* id : {&file.begin, &file.end, &file.padding, &file.unknown}) {
    TRY(*id, reader.number<std::uint32_t>("vocabulary"));
    if (*id >= count) return fail(Errc::bad_input, "a special token is {} of {}", *id, count);
  }
  TRY(const auto text_bytes, reader.number<std::uint64_t>("vocabulary"));
  TRY(file.pieces, read_pieces(reader, count, text_bytes));
  if (count > file.shape.vocabulary)
    return fail(Errc::bad_input, "it has {} tokens, but states of {}", count, file.shape.vocabulary);
  // How single characters are normalised: known without it, by the rules that it was made from.
  TRY_VOID(reader.number<std::uint32_t>("map of characters"));
  TRY(const auto map_bytes, reader.number<std::uint32_t>("map of characters"));
  TRY_VOID(reader.take(map_bytes, "map of characters"));
  return {};
}

Result<E5Tensor> read_tensor(E5Reader& reader, std::string_view bytes) {
  E5Tensor tensor;
  TRY(const auto name_bytes, reader.number<std::uint16_t>("directory"));
  TRY(tensor.name, reader.take(name_bytes, "directory"));
  TRY(const auto type, reader.number<std::uint8_t>("directory"));
  TRY(tensor.values, reader.count("number of values"));
  TRY(const auto offset, reader.number<std::uint64_t>("directory"));
  TRY(const auto size, reader.number<std::uint64_t>("directory"));
  tensor.is_packed = type == 1;
  if (type > 1 || (tensor.is_packed && tensor.values % e5_block != 0))
    return fail(Errc::bad_input, "a tensor of {} values has the unknown type {}", tensor.values, type);
  const std::uint64_t expected = tensor.is_packed ? tensor.values / e5_block * e5_block_bytes
                                                  : std::uint64_t{tensor.values} * sizeof(float);
  if (size != expected || offset > bytes.size() || size > bytes.size() - offset)
    return fail(Errc::bad_input, "a tensor of {} values has {} bytes at {} of {}", tensor.values, size,
                offset, bytes.size());
  tensor.contents = bytes.substr(offset, size);
  return tensor;
}

}  // namespace

const E5Tensor* E5File::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &E5Tensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

bool is_e5_file(std::string_view bytes) {
  return bytes.starts_with(e5_magic);
}

Result<E5File> read_e5_file(std::string_view bytes) {
  if (!is_e5_file(bytes)) return fail(Errc::bad_input, "it does not start with {}", e5_magic);
  E5Reader reader(bytes);
  TRY_VOID(reader.take(e5_magic.size(), "header"));
  TRY(const auto version, reader.number<std::uint32_t>("header"));
  if (version != e5_version)
    return fail(Errc::bad_input, "it has version {}; only {} is supported", version, e5_version);
  E5File file;
  TRY(file.shape, read_shape(reader));
  TRY_VOID(read_vocabulary(reader, file));
  TRY(const auto tensors, reader.count("number of tensors"));
  for (std::uint32_t i = 0; i < tensors; ++i) {
    TRY(auto tensor, read_tensor(reader, bytes));
    file.tensors.push_back(tensor);
  }
  return file;
}

}  // namespace plimsoll::base
