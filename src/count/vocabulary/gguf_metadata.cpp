#include "count/vocabulary/gguf_metadata.hpp"

#include <cstring>

#include "base/try.hpp"

namespace plimsoll::count {
namespace {

enum ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  Result<T> number() {
    T value;
    if (rest_.size() < sizeof value) return fail(Errc::bad_input, "the GGUF file is cut off");
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  Result<std::string_view> text() {
    TRY(const auto size, number<std::uint64_t>());
    if (size > rest_.size())
      return fail(Errc::bad_input, "a text of {} bytes is cut off in the GGUF file", size);
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

Result<double> scalar(Bytes& bytes, std::uint32_t type) {
  const auto as_double = [](auto value) { return static_cast<double>(value); };
  switch (type) {
    case u8:
    case boolean: return bytes.number<std::uint8_t>().map(as_double);
    case i8: return bytes.number<std::int8_t>().map(as_double);
    case u16: return bytes.number<std::uint16_t>().map(as_double);
    case i16: return bytes.number<std::int16_t>().map(as_double);
    case u32: return bytes.number<std::uint32_t>().map(as_double);
    case i32: return bytes.number<std::int32_t>().map(as_double);
    case f32: return bytes.number<float>().map(as_double);
    case u64: return bytes.number<std::uint64_t>().map(as_double);
    case i64: return bytes.number<std::int64_t>().map(as_double);
    case f64: return bytes.number<double>();
    default: return fail(Errc::bad_input, "a value in the GGUF file has type {}, which does not exist", type);
  }
}

Result<void> read_list(Bytes& bytes, std::string_view key, GgufMetadata& metadata) {
  TRY(const auto type, bytes.number<std::uint32_t>());
  TRY(const auto size, bytes.number<std::uint64_t>());
  if (size > bytes.left())
    return fail(Errc::bad_input, "a list of {} values is cut off in the GGUF file", size);
  if (type == string) {
    auto& list = metadata.text_lists[key];
    for (std::uint64_t i = 0; i < size; ++i) {
      TRY(const auto text, bytes.text());
      list.push_back(text);
    }
    return {};
  }
  if (type == array) return fail(Errc::unsupported, "the GGUF file has a list of lists under '{}'", key);
  auto& list = metadata.number_lists[key];
  for (std::uint64_t i = 0; i < size; ++i) {
    TRY(const double value, scalar(bytes, type));
    list.push_back(value);
  }
  return {};
}

}  // namespace

std::string GgufMetadata::text(std::string_view key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : std::string(found->second);
}

std::int64_t GgufMetadata::number(std::string_view key, std::int64_t otherwise) const {
  const auto found = numbers.find(key);
  return found == numbers.end() ? otherwise : found->second;
}

Result<GgufMetadata> read_gguf_metadata(std::string_view file) {
  Bytes bytes(file);
  TRY(const auto magic, bytes.number<std::uint32_t>());
  TRY(const auto version, bytes.number<std::uint32_t>());
  if (magic != 0x46554747) return fail(Errc::bad_input, "this is not a GGUF file");
  if (version < 2 || version > 3)
    return fail(Errc::unsupported, "GGUF version {} is not supported, only 2 and 3", version);
  TRY_VOID(bytes.number<std::uint64_t>());  // tensors
  TRY(const auto pairs, bytes.number<std::uint64_t>());
  GgufMetadata metadata;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    TRY(const auto key, bytes.text());
    TRY(const auto type, bytes.number<std::uint32_t>());
    if (type == string) {
      TRY(metadata.texts[key], bytes.text());
    } else if (type == array) {
      TRY_VOID(read_list(bytes, key, metadata));
    } else {
      TRY(const double value, scalar(bytes, type));
      metadata.numbers[key] = value > -9e18 && value < 9e18 ? static_cast<std::int64_t>(value) : 0;
    }
  }
  return metadata;
}

}  // namespace plimsoll::count
